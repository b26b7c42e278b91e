"""What attackers found, as a page to open: one file, no network, made from rows alone."""

from collections.abc import Sequence
from html import escape

from tacit.audit.attacks import ATTACKS
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import said, tables
from tacit.evaluation.html.markup import plain
from tacit.evaluation.html.page import page
from tacit.evaluation.html.provenance import Provenance

EXPERIMENT = (
    "An experiment on data at hand: an attacker is judged by true ratings, so these figures are as "
    "private as the ratings are. Do not publish them if the people are protected."
)


def report(rows: Sequence[AttackRow], run: Provenance | None = None) -> str:
    """The report as HTML: what it is, what is above its bound, each attack's figures, and what was
    run, if that is known."""
    names = " and ".join(dict.fromkeys(row.dataset for row in rows))
    parts = [
        f"<header><h1>What an attacker finds out</h1><p>{escape(names)}</p></header>",
        f"<p class=lead>{escape(EXPERIMENT)}</p>",
        *(f"<p>{escape(sentence)}</p>" for sentence in said(rows)),
    ]
    for name, table in zip(dict.fromkeys(row.attack for row in rows), tables(rows), strict=True):
        parts += [
            f"<h2>{escape(name.capitalize())}</h2>",
            f"<p>{escape(ATTACKS[name].knows)}</p>",
            plain(table),
        ]
    parts += run.html() if run else []
    return page(f"Tacit: attacks on {names}", "\n".join(parts))
