"""Result rows of cross-domain trials, and their table."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Self

from tacit.evaluation.comparison.guarantee_text import either
from tacit.evaluation.comparison.request import POPULARITY, RANDOM
from tacit.evaluation.comparison.tables import NOTHING, Table
from tacit.evaluation.digits import decimals
from tacit.evaluation.results import LISTS, checked, plain
from tacit.evaluation.units import epsilon_per
from tacit.privacy.guarantee import Trust, Unit

METRICS = ("mae", "mae_rounded", "coverage")
"""Figures of predicted ratings."""
FIGURES = (*METRICS, *LISTS)
FLOORS = {("item-average", "none"), (RANDOM, "none"), (POPULARITY, "none")}
"""Systems and modes that know nothing of a person, and of whose ratings nothing is protected."""


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """One system on one trial.

    `variant`: "item" or "user" where it recommends by similar items or people. Epsilons are in nats
    of `unit`; `epsilon` is all that is claimed, and where a system spends two parts of it that a
    request names, `replacement_epsilon` went to what items are replaced by and `neighbour_epsilon`
    to neighbours. `promise`: the guarantee as a sentence. `source`: the sources' names. `k`:
    neighbours, `damping`: co-raters from which a similarity counts in full, 0 where all do,
    `decay`: of older ratings; None where a system has none. `people`: who is tested.
    Seconds are wall seconds of learning and predicting. Figures of predicted ratings are None for a
    floor of lists, and figures of lists of 20, as `tacit.metrics.lists` defines them, where none
    were asked for or nobody has anything that they ought to show.
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
    mae: float | None
    mae_rounded: float | None
    coverage: float | None
    ndcg_at_20: float | None
    recall_at_20: float | None
    mrr: float | None
    hit_rate_at_20: float | None
    coverage_at_20: float | None
    popularity_at_20: float | None
    seconds: float

    @property
    def system(self) -> str:
        """The system and whether it recommends by similar items or people."""
        return self.model if self.variant is None else f"{self.model} ({self.variant})"

    @property
    def method(self) -> str:
        """The system as tables and figures name it."""
        return self.system if self.claim_valid is not False else f"{self.system}, claim fails"

    @property
    def floor(self) -> bool:
        """Whether it is what needs no system: the mean of an item, or one list for everybody."""
        return (self.method, self.mode) in FLOORS

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
        return cls(**checked(cls, values, ()))


SWEPT = ("source", "target", "overlap", "keep", "k", "decay")


def rated(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """The rows of what predicts ratings: all but the floors of lists."""
    return [row for row in rows if row.mae is not None]


def listed(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """The rows of which lists were measured."""
    return [row for row in rows if row.coverage_at_20 is not None]


def measured(rows: Sequence[TrialRow], metric: str = "mae") -> list[float]:
    """A metric of those rows that have it."""
    return [float(value) for row in rows if (value := getattr(row, metric)) is not None]


def mean(rows: Sequence[TrialRow], metric: str = "mae") -> float:
    """The mean of a metric over those rows that have it; NaN where none has."""
    values = measured(rows, metric)
    return fmean(values) if values else math.nan


def digits_of(rows: Sequence[TrialRow], metric: str = "mae") -> int:
    """Decimals of the means of a metric, as its spread over draws bears them."""
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in SWEPT)
        groups.setdefault((row.method, row.claim, *place), []).extend(measured([row], metric))
    return decimals(groups.values())


def varied(rows: Sequence[TrialRow]) -> list[str]:
    """Which of `SWEPT` differ from row to row."""
    return [name for name in SWEPT if len({getattr(row, name) for row in rows} - {None}) > 1]


def table(rows: Sequence[TrialRow]) -> Table:
    """Every system at every place of the sweep, means over seeds; what does not vary is left out
    of the columns."""
    heading = ("system", "epsilon", *varied(rows), "MAE", "rounded", "coverage")
    lines = _lines(rated(rows), varied(rows), METRICS)
    return Table(_caption(rows, "mean absolute error"), heading, tuple(lines))


def list_table(rows: Sequence[TrialRow]) -> Table:
    """As `table`, of lists, with their floors."""
    mine = listed(rows)
    named = ("NDCG@20", "Recall@20", "MRR", "hit rate", "coverage", "popularity")
    heading = ("system", "epsilon", *varied(mine), *named)
    lines = _lines(mine, varied(mine), LISTS)
    return Table(_caption(mine, "lists of 20"), heading, tuple(lines))


def _lines(
    rows: Sequence[TrialRow], swept: Sequence[str], metrics: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        place = tuple(getattr(row, name) for name in swept)
        kinds.setdefault((row.method, row.claim, *place), []).append(row)
    digits = {metric: digits_of(rows, metric) for metric in metrics}
    for kind, group in kinds.items():
        figures = (_figure(mean(group, metric), digits[metric]) for metric in metrics)
        yield (*map(_cell, kind), *figures)


def promises(rows: Sequence[TrialRow]) -> list[str]:
    """Each guarantee once, with the systems that give it, as `claimed` has them."""
    return list(claimed(rows))


def claimed(rows: Sequence[TrialRow]) -> dict[str, list[TrialRow]]:
    """Each guarantee once, with the systems that give it, and their rows: of those that differ in
    epsilon alone, or in how much was drawn for it, the one nearest epsilon 1, and at which others
    they hold."""
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        kind = (row.method, row.mode, row.unit, row.trust, row.delta)
        kinds.setdefault(kind, []).append(row)
    said: dict[str, list[TrialRow]] = {}
    for group in kinds.values():
        said.setdefault(_promise(group), []).extend(group)
    return {
        f"{', '.join(dict.fromkeys(row.method for row in mine))}: {promise}": mine
        for promise, mine in said.items()
    }


def _promise(rows: Sequence[TrialRow]) -> str:
    nearest = min(rows, key=lambda row: abs((row.epsilon or 0.0) - 1))
    others = sorted({row.epsilon for row in rows if row.epsilon} - {nearest.epsilon})
    alike = f" Alike at epsilon = {either([f'{e:g}' for e in others])}." if others else ""
    return nearest.promise + alike


def _caption(rows: Sequence[TrialRow], what: str) -> str:
    if not rows:
        return "No trial was finished."
    first, seeds = rows[0], len({row.seed for row in rows})
    over = "" if seeds == 1 else f", mean over {seeds} draws of who is tested"
    per = f"; {epsilon_per(rows)}" if any(row.epsilon is not None for row in rows) else ""
    return f"{first.source} to {first.target}: {what}{over}{per}"


def _figure(value: float, digits: int) -> str:
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def _cell(value: object) -> str:
    if value is None:
        return NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)
