"""The data of a figure, computed from result rows: means over splits, and a text alternative."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev

from tacit.evaluation.comparison.request import POPULARITY, RANDOM
from tacit.evaluation.comparison.tables import digits_of
from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.html.axis import beyond, limits
from tacit.evaluation.results import ResultRow
from tacit.evaluation.units import epsilon_per

TITLES = {
    "rmse": "RMSE on held-out true ratings (lower is better)",
    "mae": "MAE on held-out true ratings (lower is better)",
    "information_efficiency": "information efficiency of the device (1: as without privacy)",
    "f_score_at_10": "F-score at 10 among test items (higher is better)",
    "precision_at_10": "precision at 10 among test items (higher is better)",
    "recall_at_10": "recall at 10 among test items (higher is better)",
    "ndcg_at_20": "NDCG@20 over the complete catalogue (higher is better)",
}
ERRORS = ("rmse", "mae")
FLOORS = {"mean rating": "global-mean", "random list": RANDOM, "popularity": POPULARITY}
"""Baselines, and the models whose non-private rows contain them."""


@dataclass(frozen=True)
class AccuracyLine:
    """One channel and model at one location: (epsilon, mean, deviation over splits)."""

    channel: str
    model: str
    where: str
    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Chart:
    """The data of a figure of one metric, computed from rows."""

    rows: Sequence[ResultRow]
    metric: str

    @cached_property
    def channels(self) -> list[str]:
        """Channels in order of appearance, without the identity."""
        names = (row.channel for row in self.rows)
        return list(dict.fromkeys(name for name in names if name and name != IDENTITY))

    @cached_property
    def models(self) -> list[str]:
        """Models in order of appearance."""
        return list(dict.fromkeys(row.method for row in self.rows))

    @cached_property
    def drawn(self) -> list[str]:
        """The models that have a line, one panel each. All models if none has."""
        return [model for model in self.models if self.lines(model)] or self.models

    @cached_property
    def shown(self) -> list[str]:
        """The entries that have a colour: channels, and the plans of trainers."""
        others = (row.via for row in self.rows if row.channel is None)
        return [*self.channels, *dict.fromkeys(others)]

    @cached_property
    def epsilons(self) -> list[float]:
        """Every epsilon, ascending."""
        return sorted({row.epsilon for row in self.rows if row.epsilon})

    @property
    def axis(self) -> str:
        """Label of the epsilon axis, with the unit."""
        return epsilon_per(self.rows)

    def style(self, channel: str) -> int:
        """Return the number of a channel's colour and marker, the same in every panel."""
        return self.shown.index(channel)

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """Limits of the y axis, common to all panels. None without figures."""
        lines = [line for model in self.drawn for line in self.lines(model)]
        return limits(
            self._means,
            lower_is_better=self.metric in ERRORS,
            floors=list(self.floors.values()),
            spreads=[spread for line in lines for _, _, spread in line.points],
        )

    @property
    def beyond(self) -> float | None:
        """The figure furthest outside the axis. None if all are inside."""
        return beyond(self._means, self.limits)

    @cached_property
    def _means(self) -> list[float]:
        lines = [line for model in self.drawn for line in self.lines(model)]
        baselines = [
            baseline for model in self.drawn if (baseline := self.floor(model)) is not None
        ]
        return [mean for line in lines for _, mean, _ in line.points] + baselines

    @cached_property
    def floors(self) -> dict[str, float]:
        """Baselines without reports: the mean rating for RMSE, otherwise random lists and
        popularity without privacy."""
        if self.metric == "rmse":
            known = [row.rmse_of_mean for row in self.rows if not math.isnan(row.rmse_of_mean)]
            return {"mean rating": fmean(known)} if known else {}
        means = {name: self.floor(model) for name, model in FLOORS.items()}
        return {name: mean for name, mean in means.items() if mean is not None}

    def said(self, figure: float) -> str:
        """Format a figure with the number of decimals of the metric."""
        return f"{figure:.{self._digits}f}"

    @cached_property
    def _digits(self) -> int:
        return digits_of(self.rows, self.metric)

    def lines(self, model: str) -> list[AccuracyLine]:
        """Return the lines of a model's panel that have points."""
        mine = [row for row in self.rows if row.method == model and row.epsilon is not None]
        kinds = dict.fromkeys((row.via, row.where) for row in mine)
        candidates = (
            AccuracyLine(
                channel, model, where, _points(self._of(mine, channel, where), self.metric)
            )
            for channel, where in kinds
        )
        return [line for line in candidates if line.points]

    def floor(self, model: str) -> float | None:
        """Return the model's non-private mean at the provider. None if it was not run."""
        free = [row for row in self.rows if row.method == model and row.channel == IDENTITY]
        values = _figures(self._of(free, IDENTITY, "provider"), self.metric)
        return fmean(values) if values else None

    def _of(self, rows: Sequence[ResultRow], channel: str, where: str) -> list[ResultRow]:
        return [r for r in rows if r.via == channel and r.where == where]


def _figures(rows: Sequence[ResultRow], metric: str) -> list[float]:
    values = (float(getattr(row, metric)) for row in rows)
    return [value for value in values if not math.isnan(value)]


def _points(rows: Sequence[ResultRow], metric: str) -> tuple[tuple[float, float, float], ...]:
    epsilons = sorted({row.epsilon for row in rows if row.epsilon is not None})
    values_by_epsilon = {
        e: _figures([row for row in rows if row.epsilon == e], metric) for e in epsilons
    }
    return tuple(
        (e, fmean(values), pstdev(values)) for e, values in values_by_epsilon.items() if values
    )


def describe(rows: Sequence[ResultRow], metric: str = "rmse") -> str:
    """Return the text alternative of the figure."""
    chart = Chart(rows, metric)
    parts: list[str] = []
    for model in chart.models:
        for line in chart.lines(model):
            values = ", ".join(
                f"{chart.said(mean)} at {epsilon:g}" for epsilon, mean, _ in line.points
            )
            parts.append(f"{model} with {line.channel} at the {line.where}: {values}.")
        if (value := chart.floor(model)) is not None:
            parts.append(f"{model} without privacy: {chart.said(value)}.")
    for name, value in chart.floors.items():
        parts.append(f"{name[0].upper()}{name[1:]}: {chart.said(value)}.")
    return f"{TITLES[metric]}, against {chart.axis}. " + " ".join(parts)
