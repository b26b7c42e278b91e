"""A report of cross-domain trials to open: one file, no network, made from rows alone."""

from collections.abc import Sequence

from tacit.evaluation.comparison.guarantee_text import either
from tacit.evaluation.crossdomain.report_figures import report_figures
from tacit.evaluation.crossdomain.rows import (
    SWEPT,
    TrialRow,
    claimed,
    digits_of,
    list_table,
    listed,
    mean,
    promises,
    rated,
    table,
    varied,
)
from tacit.evaluation.html.failed_claim import FailedClaim
from tacit.evaluation.html.page import render
from tacit.evaluation.html.provenance import Provenance


def report(rows: Sequence[TrialRow], run: Provenance | None = None) -> str:
    """The report as HTML: promises, figures along every axis that varies, all figures, and what was
    run, if that is known."""
    names = " and ".join(dict.fromkeys(f"{row.source} to {row.target}" for row in rows))
    return render(
        "crossdomain.html",
        title=f"Tacit: {names}",
        names=names,
        lead=_lead(rated(rows)),
        promises=promises([row for row in rows if row.claim_valid is not False]),
        failed=_failed([row for row in rows if row.claim_valid is False]),
        figures=report_figures(rows),
        tables=[table(rows), *([list_table(rows)] if listed(rows) else [])],
        method=_method(rows) if rows else None,
        run=run,
    )


def _failed(rows: Sequence[TrialRow]) -> list[FailedClaim]:
    """Each claim that fails: who makes it at which epsilons, and why, as its promise says."""
    found: list[FailedClaim] = []
    for number, (why, mine) in enumerate(claimed(rows).items(), 1):
        systems = either(list(dict.fromkeys(row.system for row in mine)))
        epsilons = sorted({row.epsilon for row in mine if row.epsilon is not None})
        said = either([f"{epsilon:g}" for epsilon in epsilons])
        line = f"{systems} claims epsilon = {said} per {mine[0].unit}"
        found.append(FailedClaim(f"claim-{number}", line, why))
    return found


def _lead(rows: Sequence[TrialRow]) -> list[dict[str, str]]:
    """The lowest error near epsilon 1 with a promise that holds, and the lowest without any."""
    free = _lowest([row for row in rows if row.epsilon is None])
    held = [row for row in rows if row.epsilon is not None and row.claim_valid]
    near = min((row.epsilon or 0.0 for row in held), key=lambda e: (abs(e - 1), e), default=None)
    strict = _lowest([row for row in held if row.epsilon == near])
    said = [_said(strict, rows, f"at epsilon = {near:g} per {strict[0].unit}")] if strict else []
    return said + ([_said(free, rows, "without privacy")] if free else [])


def _lowest(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """The rows, over seeds, of what has the lowest mean error; empty where there is no row."""
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in SWEPT)
        kinds.setdefault((row.method, row.epsilon, *place), []).append(row)
    return min(kinds.values(), key=mean) if kinds else []


def _said(rows: Sequence[TrialRow], among: Sequence[TrialRow], beside: str) -> dict[str, str]:
    """The mean, its system, and where it stands on what varies among all rows."""
    places = {name: getattr(rows[0], name) for name in varied(among)}
    of = [rows[0].method, *(f"{name} {at}" for name, at in places.items() if at is not None)]
    return {"error": f"{mean(rows):.{digits_of(among)}f}", "of": ", ".join(of), "beside": beside}


def _method(rows: Sequence[TrialRow]) -> dict[str, object]:
    first, seeds = rows[0], len({row.seed for row in rows})
    return {
        "share": f"{first.test_share:.0%}",
        "people": f"{first.people:,}",
        "n_test": f"{first.n_test:,}",
        "times": "once" if seeds == 1 else f"{seeds} times",
        "lists": bool(listed(rows)),
    }
