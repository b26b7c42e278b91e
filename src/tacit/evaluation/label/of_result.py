"""Label of a result file: the distinct guarantees of the compared systems."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from tacit.evaluation import results
from tacit.evaluation.comparison.guarantee_text import claims, plugged
from tacit.evaluation.label.label import Label, Terms
from tacit.evaluation.results import ResultRow
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee

UNBOUNDED = "The guarantees per value or slot imply no guarantee per user."


def of_result(path: Path) -> Label:
    """Return the label of a result file. Raises `DataError` for a file without result rows."""
    rows = results.load(path)
    terms = [
        Terms(through=_methods(group), promises=tuple(_promises(claim, group)))
        for claim, group in claims(rows)
    ]
    free = [row for row in rows if row.epsilon is None]
    if free:
        terms.append(Terms(through=_methods(free), promises=(NO_PRIVACY,)))
    units = {promise.unit for each in terms for promise in each.promises}
    return Label(
        kind="result",
        name=", ".join(dict.fromkeys(row.dataset for row in rows)) or path.name,
        address=sha256(path.read_bytes()).hexdigest(),
        asked_by=None,
        leaves="Nothing is released: these are the figures of an experiment, which are as private "
        "as its data."
        + "".join(f" {sentence}" for sentence in plugged(row.plugins for row in rows)),
        terms=tuple(terms),
        unbounded=UNBOUNDED if units & {"value", "slot"} else None,
        keeping=None,
    )


def _promises(claim: Guarantee, rows: Sequence[ResultRow]) -> Iterator[Guarantee]:
    """Yield the guarantee at each epsilon, then the guarantees per user of the rows, if any."""
    for epsilon in sorted({row.epsilon for row in rows if row.epsilon is not None}):
        yield replace(claim, epsilon=f"{epsilon:g}")
    people = {(row.user_epsilon, 0.0) for row in rows}
    people |= {(row.tight_epsilon, row.delta) for row in rows}
    for epsilon, delta in sorted((e, d) for e, d in people if e is not None):
        yield replace(claim, epsilon=f"{epsilon:g}", delta=f"{delta:g}", unit="user")


def _methods(rows: Sequence[ResultRow]) -> str:
    return ", ".join(dict.fromkeys(f"{row.via} + {row.method}" for row in rows))
