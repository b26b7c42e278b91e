"""A report of cross-domain trials to open: one file, no network, made from rows alone."""

from collections.abc import Sequence
from html import escape

from tacit.evaluation.crossdomain import figures
from tacit.evaluation.crossdomain.rows import (
    SWEPT,
    TrialRow,
    list_table,
    listed,
    mean,
    promises,
    rated,
    table,
    varied,
)
from tacit.evaluation.html.markup import plain
from tacit.evaluation.html.page import page
from tacit.evaluation.html.provenance import Provenance

LISTS_MEASURED = (
    "<p>Lists are the 20 highest predictions out of the whole target less what a person kept "
    "there, ties by item code. They ought to show hidden ratings of three quarters up the scale or "
    "more; who has none is left out of NDCG, recall, MRR and the hit rate. Coverage of lists is "
    "the share of the target's items that are in somebody's list, popularity the mean share of "
    "those with known ratings of the target who rated what is listed. Lists at random, and by "
    "popularity with no privacy, are floors: they predict no rating.</p>"
)


def report(rows: Sequence[TrialRow], run: Provenance | None = None) -> str:
    """The report as HTML: promises, figures along every axis that varies, all figures, and what was
    run, if that is known."""
    names = " and ".join(dict.fromkeys(f"{row.source} to {row.target}" for row in rows))
    parts = [
        f"<header><h1>Recommendations across domains</h1><p>{escape(names)}</p></header>",
        _lead(rated(rows)),
        _promises(rows),
        "<h2>What is predicted, and how well</h2>",
        *figures.html(rows),
        plain(table(rows)),
        *([plain(list_table(rows))] if listed(rows) else []),
        "<h2>How this was measured</h2>",
        _method(rows),
        *(run.html() if run else []),
    ]
    return page(f"Tacit: {names}", "\n".join(parts))


def _lead(rows: Sequence[TrialRow]) -> str:
    """The lowest error near epsilon 1 with a promise that holds, beside the lowest without any."""
    free = _lowest([row for row in rows if row.epsilon is None])
    held = [row for row in rows if row.epsilon is not None and row.claim_valid]
    near = min((row.epsilon or 0.0 for row in held), key=lambda e: (abs(e - 1), e), default=None)
    strict = _lowest([row for row in held if row.epsilon == near])
    said = [f"{_of(free, rows)} without any privacy"] if free else []
    if strict:
        said.insert(0, f"{_of(strict, rows)} at epsilon = {near:g} per {strict[0].unit}")
    return f"<p class=lead>The lowest error is {'; '.join(said)}.</p>" if said else ""


def _lowest(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """The rows, over seeds, of what has the lowest mean error; empty where there is no row."""
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in SWEPT)
        kinds.setdefault((row.method, row.epsilon, *place), []).append(row)
    return min(kinds.values(), key=mean) if kinds else []


def _of(rows: Sequence[TrialRow], among: Sequence[TrialRow]) -> str:
    """The mean, its system, and where it stands on what varies among all rows."""
    places = {name: getattr(rows[0], name) for name in varied(among)}
    said = [rows[0].method, *(f"{name} {at}" for name, at in places.items() if at is not None)]
    return f"<strong>{mean(rows):.3f}</strong> ({escape(', '.join(said))})"


def _promises(rows: Sequence[TrialRow]) -> str:
    said = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in promises(rows))
    return f"<section class=promise>\n<h2>What is promised</h2>\n{said}\n</section>"


def _method(rows: Sequence[TrialRow]) -> str:
    if not rows:
        return "<p>No trial was finished.</p>"
    first, seeds = rows[0], len({row.seed for row in rows})
    return (
        f"<p>Of the people whom the domains share, {first.test_share:.0%} were tested: "
        f"{first.people:,} on {first.n_test:,} ratings that no system saw, drawn "
        f"{'once' if seeds == 1 else f'{seeds} times'}. Whoever does not link the domains is two "
        "people, one in the target and one elsewhere. Errors are those of predictions "
        "clipped to the scale, as they are and rounded to the nearest level. Coverage is the share "
        "of ratings where a system could tell more than an item's mean.</p>"
        + (LISTS_MEASURED if listed(rows) else "")
    )
