"""What attackers found, as a page to open: one file, no network, made from rows alone."""

from collections.abc import Sequence

from tacit.audit.attacks import ATTACKS
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import said, tables
from tacit.evaluation.html.page import render
from tacit.evaluation.html.provenance import Provenance

EXPERIMENT = (
    "An experiment on data at hand: an attacker is judged by true ratings, so these figures are as "
    "private as the ratings are. Do not publish them if the people are protected."
)


def report(rows: Sequence[AttackRow], run: Provenance | None = None) -> str:
    """The report as HTML: what it is, what is above its bound, each attack's figures, and what was
    run, if that is known."""
    names = " and ".join(dict.fromkeys(row.dataset for row in rows))
    played = dict.fromkeys(row.attack for row in rows)
    return render(
        "attacks.html",
        title=f"Tacit: attacks on {names}",
        names=names,
        experiment=EXPERIMENT,
        said=said(rows),
        attacks=[
            (name, ATTACKS[name].knows, table)
            for name, table in zip(played, tables(rows), strict=True)
        ],
        run=run,
    )
