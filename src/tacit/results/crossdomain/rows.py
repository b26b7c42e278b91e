"""Result rows of cross-domain trials, and their table."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Self

from tacit.privacy.guarantee import Trust, Unit
from tacit.reporting.table import NOTHING, Table, decimals, epsilon_per, text
from tacit.results.comparison.row import LISTS, POPULARITY, RANDOM
from tacit.results.guarantee_text import either
from tacit.results.records import checked, plain

METRICS = ("mae", "mae_rounded", "coverage")
"""Metrics of predicted ratings."""
FIGURES = (*METRICS, *LISTS)
Point = tuple[object, ...]
"""Values of the axes that vary."""
CONSTANTS = ("constant", "constant-mean")
"""Systems that predict one rating for all users and items."""
COMPARED = (
    ("mae", "MAE", "the best constant", CONSTANTS),
    ("mae_rounded", "rounded MAE", "the best constant", CONSTANTS),
    ("ndcg_at_20", "NDCG@20", "popularity", (POPULARITY,)),
)
"""Metrics in which strict systems are compared with baselines: column, heading, baseline, names."""
BASELINES = {(name, "none") for name in (*CONSTANTS, "item-average", RANDOM, POPULARITY)}
"""Systems and modes that are non-personalized, non-private baselines."""


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """One system on one trial.

    `variant`: "item" or "user" for item-based or user-based systems. Epsilons are in nats per
    `unit`. `epsilon`: the total claim. If a request sets two parts, `replacement_epsilon` is that
    of item replacement and `neighbour_epsilon` that of neighbour selection. `promise`: the
    guarantee as a sentence. `source`: names of the sources. `k`: number of neighbours. `damping`:
    number of co-raters from which a similarity has full weight, 0 for no damping. `decay`: of older
    ratings. The last three are None for systems without them. `people`: number of test users.
    `seconds`: wall seconds of fit and prediction. Metrics of predicted ratings are None for
    baselines of lists. Metrics of top-20 lists, as `tacit.metrics.lists` defines them, are None
    unless requested, and if no user has a relevant item.
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
        """The system, with its variant."""
        return self.model if self.variant is None else f"{self.model} ({self.variant})"

    @property
    def method(self) -> str:
        """Name of the system in tables and figures."""
        return self.system if self.claim_valid is not False else f"{self.system}, claim fails"

    @property
    def baseline(self) -> bool:
        """Whether it is a non-personalized baseline: the item mean, or one list for all users."""
        return (self.method, self.mode) in BASELINES

    @property
    def claim(self) -> str:
        """Mode and epsilon, for tables and figures."""
        if self.epsilon is None:
            return "no privacy"
        parts = (self.replacement_epsilon, self.neighbour_epsilon)
        known = [f"{part:g}" for part in parts if part is not None]
        return f"{self.mode}, {' + '.join(known) if len(known) > 1 else f'{self.epsilon:g}'}"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. Missing figures are null."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, values, ()))


SWEPT = ("source", "target", "overlap", "keep", "k", "decay")


def rated(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows of systems that predict ratings, without the baselines of lists."""
    return [row for row in rows if row.mae is not None]


def listed(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows with metrics of lists."""
    return [row for row in rows if row.coverage_at_20 is not None]


def measured(rows: Sequence[TrialRow], metric: str = "mae") -> list[float]:
    """Return the values of a metric in the rows that have it."""
    return [float(value) for row in rows if (value := getattr(row, metric)) is not None]


def mean(rows: Sequence[TrialRow], metric: str = "mae") -> float:
    """Return the mean of a metric over the rows that have it. NaN if none has."""
    values = measured(rows, metric)
    return fmean(values) if values else math.nan


def digits_of(rows: Sequence[TrialRow], metric: str = "mae") -> int:
    """Return the number of decimals of a metric's means, from its spread over draws."""
    return decimals([measured(group, metric) for group in _groups(rows, SWEPT).values()])


def comparable(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows of the seeds that all systems have at all points, as an interrupted request
    may not. All rows without such a seed."""
    groups = _groups(rows, SWEPT).values()
    seeds = {row.seed for row in rows}.intersection(*({row.seed for row in g} for g in groups))
    return [row for row in rows if row.seed in seeds or not seeds]


def _groups(rows: Sequence[TrialRow], axes: Sequence[str]) -> dict[Point, list[TrialRow]]:
    """Return the rows of each system and claim at each point of `axes`."""
    groups: dict[Point, list[TrialRow]] = {}
    for row in rows:
        point = tuple(getattr(row, name) for name in axes)
        groups.setdefault((row.method, row.claim, *point), []).append(row)
    return groups


def varied(rows: Sequence[TrialRow]) -> list[str]:
    """Return the axes of `SWEPT` that vary among the rows."""
    return [name for name in SWEPT if len({getattr(row, name) for row in rows} - {None}) > 1]


def table(rows: Sequence[TrialRow]) -> Table:
    """Return every system at every point of the sweep, means over common seeds. Columns are only
    those axes that vary."""
    heading = ("system", "epsilon", *varied(rows), "MAE", "rounded", "coverage")
    lines = _lines(rated(comparable(rows)), varied(rows), METRICS)
    return Table(_caption(rows, "mean absolute error"), heading, tuple(lines))


def list_table(rows: Sequence[TrialRow]) -> Table:
    """Return the same table for lists, with their baselines."""
    mine = listed(rows)
    named = ("NDCG@20", "Recall@20", "MRR", "hit rate", "coverage", "popularity")
    heading = ("system", "epsilon", *varied(mine), *named)
    lines = _lines(comparable(mine), varied(mine), LISTS)
    return Table(_caption(mine, "top-20 lists"), heading, tuple(lines))


def as_text(rows: Sequence[TrialRow]) -> str:
    """Return the tables for a terminal, then the guarantees. Empty without rows."""
    if not rows:
        return ""
    return "\n\n".join([*map(text, tables(rows)), *behind(rows), "\n".join(promises(rows))])


def tables(rows: Sequence[TrialRow]) -> list[Table]:
    """Return the table of predicted ratings and that of lists, where there are any."""
    of_lists = [list_table(rows)] if listed(rows) else []
    return [table(rows), *of_lists] if rated(rows) or not of_lists else of_lists


def behind(rows: Sequence[TrialRow]) -> list[str]:
    """Return a sentence per metric in which strict systems are not ahead of a baseline: of the best
    constant in errors, of popularity in lists.

    A system is ahead if its mean, at the decimals of the table, is better than that of the best
    baseline of the same trials.
    """
    common = comparable(rows)
    return [
        f"Not ahead of {baseline} in {what}: {'; '.join(systems)}."
        for metric, what, baseline, names in COMPARED
        if (systems := _behind([row for row in common if measured([row], metric)], metric, names))
    ]


def _behind(rows: Sequence[TrialRow], metric: str, baselines: Sequence[str]) -> list[str]:
    """Return the strict systems, at points of the sweep, that are not ahead of a baseline."""
    digits, fixed = digits_of(rows, metric), ("k", "decay")
    trials = [name for name in varied(rows) if name not in fixed]
    better = -1 if metric in LISTS else 1  # the sign under which lower is better
    known: dict[Point, list[TrialRow]] = {}
    systems: dict[tuple[str, str, Point, Point], list[TrialRow]] = {}
    for row in rows:
        point = tuple(getattr(row, name) for name in trials)
        if row.model in baselines and row.mode == "none":
            known.setdefault(point, []).append(row)
        elif row.mode == "strict":
            settings = tuple(getattr(row, name) for name in fixed)
            systems.setdefault((row.method, row.claim, point, settings), []).append(row)

    def rounded(group: Sequence[TrialRow]) -> float:
        return better * round(mean(group, metric), digits)

    def best(baseline: Sequence[TrialRow]) -> float:
        each = ([row for row in baseline if row.model == name] for name in baselines)
        return min((rounded(one) for one in each if one), default=math.inf)

    return [
        ", ".join([method, claim, *_at(trials, point)])
        for (method, claim, point, _), mine in systems.items()
        if rounded(mine) >= best(known.get(point, []))
    ]


def _at(names: Sequence[str], point: Point) -> list[str]:
    """Return the values of axes in words."""
    return [f"{name} {_cell(value)}" for name, value in zip(names, point, strict=True)]


def _lines(
    rows: Sequence[TrialRow], swept: Sequence[str], metrics: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    digits = {metric: digits_of(rows, metric) for metric in metrics}
    for kind, group in _groups(rows, swept).items():
        figures = (_figure(mean(group, metric), digits[metric]) for metric in metrics)
        yield (*map(_cell, kind), *figures)


def promises(rows: Sequence[TrialRow]) -> list[str]:
    """Return each distinct guarantee with its systems, in the words of `claimed`."""
    return list(claimed(rows))


def claimed(rows: Sequence[TrialRow]) -> dict[str, list[TrialRow]]:
    """Return each distinct guarantee with its systems, and their rows. Guarantees that differ only
    in epsilon, or in the number of draws, are stated for the epsilon nearest to 1, with the other
    epsilons."""
    kinds: dict[tuple[object, ...], list[TrialRow]] = {}
    for row in rows:
        kind = (row.method, row.mode, row.unit, row.trust, row.delta)
        kinds.setdefault(kind, []).append(row)
    by_guarantee: dict[str, list[TrialRow]] = {}
    for group in kinds.values():
        by_guarantee.setdefault(_promise(group), []).extend(group)
    return {
        f"{', '.join(dict.fromkeys(row.method for row in mine))}: {promise}": mine
        for promise, mine in by_guarantee.items()
    }


def _promise(rows: Sequence[TrialRow]) -> str:
    nearest = min(rows, key=lambda row: abs((row.epsilon or 0.0) - 1))
    others = sorted({row.epsilon for row in rows if row.epsilon} - {nearest.epsilon})
    alike = f" Alike at epsilon = {either([f'{e:g}' for e in others])}." if others else ""
    return nearest.promise + alike


def _caption(rows: Sequence[TrialRow], what: str) -> str:
    if not rows:
        return "No trial finished."
    every, seeds = (len({row.seed for row in some}) for some in (rows, comparable(rows)))
    over = "" if every == 1 else f", mean over {seeds} draw{'s' * (seeds > 1)} of test users"
    over += f" (of {every}, the others are incomplete)" if seeds < every else ""
    per = f"; {epsilon_per(rows)}" if any(row.epsilon is not None for row in rows) else ""
    return f"{rows[0].source} to {rows[0].target}: {what}{over}{per}"


def _figure(value: float, digits: int) -> str:
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def _cell(value: object) -> str:
    if value is None:
        return NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)
