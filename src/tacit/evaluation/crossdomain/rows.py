"""Result rows of cross-domain trials, and their table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Self

from tacit.evaluation.comparison.guarantee_text import either
from tacit.evaluation.comparison.tables import NOTHING, Table
from tacit.evaluation.results import checked, plain
from tacit.privacy.guarantee import Trust, Unit

METRICS = ("mae", "mae_rounded", "coverage")


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """One system on one trial.

    `variant`: "item" or "user" where it recommends by similar items or people. Epsilons are in nats
    of `unit`; `epsilon` is all that is claimed, and where a system spends two parts of it that a
    request names, `replacement_epsilon` went to what items are replaced by and `neighbour_epsilon`
    to neighbours. `promise`: the guarantee as a sentence. `source`: the sources' names. `k`:
    neighbours, `damping`: co-raters from which a similarity counts in full, 0 where all do,
    `decay`: of older ratings; None where a system has none. `people`: who is tested.
    Seconds are wall seconds.
    """

    model: str
    variant: str | None
    mode: str
    epsilon: float | None
    replacement_epsilon: float | None
    neighbour_epsilon: float | None
    delta: float
    unit: Unit
    trust: Trust
    claim_valid: bool | None
    promise: str
    source: str
    target: str
    test_share: float
    overlap: float
    keep: int
    k: int | None
    damping: int | None
    decay: float | None
    seed: int
    n_train: int
    n_test: int
    people: int
    mae: float
    mae_rounded: float
    coverage: float
    seconds: float

    @property
    def method(self) -> str:
        """The system as tables and figures name it."""
        name = self.model if self.variant is None else f"{self.model} ({self.variant})"
        return name if self.claim_valid is not False else f"{name}, claim fails"

    @property
    def claim(self) -> str:
        """Mode and epsilon, as tables and figures name them."""
        if self.epsilon is None:
            return "no privacy"
        parts = (self.replacement_epsilon, self.neighbour_epsilon)
        known = [f"{part:g}" for part in parts if part is not None]
        return f"{self.mode}, {' + '.join(known) if len(known) > 1 else f'{self.epsilon:g}'}"

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values; a figure that does not exist is null."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The row that `to_dict` wrote; raises `DataError` for other keys."""
        return cls(**checked(cls, values, METRICS))


SWEPT = ("source", "target", "overlap", "keep", "k", "decay")


def mean(rows: Sequence[TrialRow], metric: str = "mae") -> float:
    """The mean of a metric over rows."""
    return fmean(float(getattr(row, metric)) for row in rows)


def varied(rows: Sequence[TrialRow]) -> list[str]:
    """Which of `SWEPT` differ from row to row."""
    return [name for name in SWEPT if len({getattr(row, name) for row in rows} - {None}) > 1]


def table(rows: Sequence[TrialRow]) -> Table:
    """Every system at every place of the sweep, means over seeds; what does not vary is left out
    of the columns."""
    swept = varied(rows)
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in swept)
        kinds.setdefault((row.method, row.claim, *place), []).append(row)
    lines = [
        (*map(_cell, kind), *(f"{mean(group, metric):.3f}" for metric in METRICS))
        for kind, group in kinds.items()
    ]
    heading = ("system", "epsilon", *swept, "MAE", "rounded", "coverage")
    return Table(_caption(rows), heading, tuple(lines))


def promises(rows: Sequence[TrialRow]) -> list[str]:
    """Each guarantee once, with the systems that give it: of those that differ in epsilon alone, or
    in how much was drawn for it, the one nearest epsilon 1, and at which others they hold."""
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        kind = (row.method, row.mode, row.unit, row.trust, row.delta)
        kinds.setdefault(kind, []).append(row)
    said: dict[str, dict[str, None]] = {}
    for group in kinds.values():
        said.setdefault(_promise(group), {})[group[0].method] = None
    return [f"{', '.join(methods)}: {promise}" for promise, methods in said.items()]


def _promise(rows: Sequence[TrialRow]) -> str:
    nearest = min(rows, key=lambda row: abs((row.epsilon or 0.0) - 1))
    others = sorted({row.epsilon for row in rows if row.epsilon} - {nearest.epsilon})
    alike = f" Alike at epsilon = {either([f'{e:g}' for e in others])}." if others else ""
    return nearest.promise + alike


def _caption(rows: Sequence[TrialRow]) -> str:
    if not rows:
        return "No trial was finished."
    first, seeds = rows[0], len({row.seed for row in rows})
    over = "" if seeds == 1 else f", mean over {seeds} draws of who is tested"
    units = " or ".join(dict.fromkeys(row.unit for row in rows if row.epsilon is not None))
    per = f"; epsilon per {units}" if units else ""
    return f"{first.source} to {first.target}: mean absolute error{over}{per}"


def _cell(value: object) -> str:
    if value is None:
        return NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)
