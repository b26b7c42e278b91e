"""Guarantees of result rows in words: each kind once, at all its epsilons."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.privacy.ledger import delta_text
from tacit.reporting.page import FailedClaim
from tacit.results.comparison.row import ResultRow
from tacit.training import TRAININGS
from tacit.training.papers.xian import FaithfulSVD

RELEASED = {
    "curator": "the curator's output",
    "shuffler": "shuffled messages of the devices, with profiles replaced by any other ones,",
}
"""Releases by the trusted party."""


def claims(rows: Sequence[ResultRow]) -> list[tuple[Guarantee, list[ResultRow]]]:
    """Return each kind of guarantee with its rows, by ascending epsilon, without non-private
    rows."""
    kinds: dict[tuple[object, ...], list[ResultRow]] = {}
    for row in sorted(rows, key=lambda row: row.epsilon or 0.0):
        if row.epsilon is not None:
            holds = row.claim_valid is not False
            kind = (row.unit, row.trust, row.delta, holds, row.uncovered)
            kinds.setdefault(kind, []).append(row)
    return [(_claim(group), group) for group in kinds.values()]


def failed(rows: Sequence[ResultRow]) -> list[FailedClaim]:
    """Return the failing claim of each model, at all its epsilons. Claims of papers have a
    reason."""
    models = dict.fromkeys(row.method for row in rows if row.claim_valid is False)
    groups = ([row for row in rows if row.method == name] for name in models)
    return [_failed(group, f"claim-{number}") for number, group in enumerate(groups, 1)]


def _failed(rows: Sequence[ResultRow], anchor: str) -> FailedClaim:
    claim = _claim(rows)
    published = TRAININGS.get((rows[0].model, rows[0].mode))
    if isinstance(published, FaithfulSVD):
        claim = replace(claim, fails=published.guarantee("1").fails)
    line = f"{rows[0].model} claims epsilon = {claim.epsilon} per {claim.unit}"
    return FailedClaim(anchor, line, f"{rows[0].model}: {claim.sentence}")


def sentences(rows: Sequence[ResultRow]) -> list[str]:
    """Return a sentence per kind of guarantee, one on non-private rows, and one on plug-ins."""
    texts = [claim.sentence for claim, _ in claims(rows)]
    texts += [NO_PRIVACY.sentence] * any(row.epsilon is None for row in rows)
    return texts + plugged(row.plugins for row in rows)


def plugged(plugins: Iterable[str | None]) -> list[str]:
    """Return a sentence on the plug-ins of rows, or an empty list."""
    parts = (part for each in plugins if each for part in each.split(", "))
    names = list(dict.fromkeys(parts))
    if not names:
        return []
    return [f"From plug-ins, whose guarantees Tacit does not verify: {', '.join(names)}."]


def _claim(rows: Sequence[ResultRow]) -> Guarantee:
    row = rows[0]
    epsilons = dict.fromkeys(f"{row.epsilon:g}" for row in rows if row.epsilon is not None)
    empty: dict[float, float] = {}  # the largest one at each epsilon
    for row in rows:
        if row.epsilon is not None and row.empty_epsilon is not None:
            empty[row.epsilon] = max(empty.get(row.epsilon, 0.0), row.empty_epsilon)
    # With a tight guarantee per user, the row's delta is that of the user. A slot's claim is pure.
    delta = 0.0 if row.tight_epsilon is not None else row.delta
    return Guarantee(
        epsilon=either(list(epsilons)),
        delta=delta_text(delta),
        unit=row.unit,
        trust=row.trust,
        empty=either([f"{each:g}" for each in empty.values()]) if empty else None,
        released=RELEASED.get(row.trust, "the devices' reports"),
        fails=_failing(rows) if row.claim_valid is False else None,
        uncovered=tuple(row.uncovered.split(", ")) if row.uncovered else (),
    )


def _failing(rows: Sequence[ResultRow]) -> str:
    models = ", ".join(dict.fromkeys(row.model for row in rows))
    return f"{models}; see the reason in each guarantee"


def either(words: Sequence[str]) -> str:
    """Join words as `a, b or c`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
