"""HTML report of cross-domain trials: one self-contained file, computed from result rows."""

from collections.abc import Sequence

from tacit.reporting.page import FailedClaim, Provenance, render
from tacit.results.crossdomain.charts import report_figures
from tacit.results.crossdomain.rows import (
    SWEPT,
    TrialRow,
    behind,
    claimed,
    comparable,
    digits_of,
    listed,
    mean,
    promises,
    rated,
    tables,
    varied,
)
from tacit.results.guarantee_text import either


def report(rows: Sequence[TrialRow], run: Provenance | None = None) -> str:
    """Return the report as HTML: guarantees, figures along every varied axis, tables, and the
    provenance `run`, if known."""
    every, rows = rows, comparable(rows)
    names = " and ".join(dict.fromkeys(f"{row.source} to {row.target}" for row in rows))
    return render(
        "crossdomain.html",
        title=f"Tacit: {names}",
        names=names,
        lead=_lead(rated(rows)),
        promises=promises([row for row in rows if row.claim_valid is not False]),
        failed=_failed([row for row in rows if row.claim_valid is False]),
        figures=report_figures(rows),
        tables=tables(every),
        behind=behind(rows),
        method=_method(rows) if rows else None,
        run=run,
    )


def _failed(rows: Sequence[TrialRow]) -> list[FailedClaim]:
    """Return each failing claim with its systems, its epsilons and the reason."""
    claims: list[FailedClaim] = []
    for number, (why, mine) in enumerate(claimed(rows).items(), 1):
        systems = either(list(dict.fromkeys(row.system for row in mine)))
        epsilons = sorted({row.epsilon for row in mine if row.epsilon is not None})
        values = either([f"{epsilon:g}" for epsilon in epsilons])
        line = f"{systems} claims epsilon = {values} per {mine[0].unit}"
        claims.append(FailedClaim(f"claim-{number}", line, why))
    return claims


def _lead(rows: Sequence[TrialRow]) -> list[dict[str, str]]:
    """Return the lowest error with a valid guarantee near epsilon 1, and that without privacy."""
    free = _lowest([row for row in rows if row.epsilon is None])
    held = [row for row in rows if row.epsilon is not None and row.claim_valid]
    near = min((row.epsilon or 0.0 for row in held), key=lambda e: (abs(e - 1), e), default=None)
    strict = _lowest([row for row in held if row.epsilon == near])
    entries = (
        [_entry(strict, rows, f"at epsilon = {near:g} per {strict[0].unit}")] if strict else []
    )
    return entries + ([_entry(free, rows, "without privacy")] if free else [])


def _lowest(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows, over seeds, with the lowest mean error. Empty without rows."""
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        point = tuple(getattr(row, name) for name in SWEPT)
        kinds.setdefault((row.method, row.epsilon, *point), []).append(row)
    return min(kinds.values(), key=mean) if kinds else []


def _entry(rows: Sequence[TrialRow], among: Sequence[TrialRow], setting: str) -> dict[str, str]:
    """Return the mean error, its system, and its position on the varied axes."""
    places = {name: getattr(rows[0], name) for name in varied(among)}
    of = [rows[0].method, *(f"{name} {at}" for name, at in places.items() if at is not None)]
    return {"error": f"{mean(rows):.{digits_of(among)}f}", "of": ", ".join(of), "setting": setting}


def _method(rows: Sequence[TrialRow]) -> dict[str, object]:
    first, seeds = rows[0], len({row.seed for row in rows})
    return {
        "share": f"{first.test_share:.0%}",
        "people": f"{first.people:,}",
        "n_test": f"{first.n_test:,}",
        "times": "once" if seeds == 1 else f"{seeds} times",
        "lists": bool(listed(rows)),
    }
