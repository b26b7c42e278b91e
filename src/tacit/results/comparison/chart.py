"""Accuracy against epsilon, from result rows: one panel per model, one color per channel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev

from matplotlib.figure import Figure

from tacit.collection.named_plans import IDENTITY
from tacit.reporting.page import FigurePanel, ReportFigure
from tacit.reporting.panel import (
    ONE_SPLIT,
    LegendEntry,
    Line,
    Panel,
    Point,
    ReferenceLine,
    beyond,
    limits,
    marker,
)
from tacit.reporting.plot import draw_all
from tacit.reporting.table import epsilon_per
from tacit.results.comparison.row import POPULARITY, RANDOM, ResultRow
from tacit.results.comparison.tables import digits_of

TITLES = {
    "rmse": "RMSE on held-out true ratings (lower is better)",
    "mae": "MAE on held-out true ratings (lower is better)",
    "information_efficiency": "information efficiency on the device (1: no loss from privacy)",
    "f_score_at_10": "F-score at 10 among test items (higher is better)",
    "precision_at_10": "precision at 10 among test items (higher is better)",
    "recall_at_10": "recall at 10 among test items (higher is better)",
    "ndcg_at_20": "NDCG@20 over the complete catalogue (higher is better)",
}
ERRORS = ("rmse", "mae")
BASELINES = {"mean rating": "global-mean", "random list": RANDOM, "popularity": POPULARITY}
"""Baselines, and the models whose non-private rows contain them."""
STROKES = {"provider": "solid", "device": "dashed", "curator": "dotdashed"}
FREE = "provider, no privacy"


@dataclass(frozen=True)
class Chart:
    """The figure of one metric: means over splits, with their standard deviations.

    Solid lines: provider. Dashed: device. Dotted: provider without privacy. Thin dashed: baseline.
    All panels have the same axes.
    """

    rows: Sequence[ResultRow]
    metric: str

    @cached_property
    def models(self) -> list[str]:
        """The models that have a line, one panel each. All models if none has."""
        every = list(dict.fromkeys(row.method for row in self.rows))
        return [model for model in every if self.lines(model)] or every

    @cached_property
    def shown(self) -> list[str]:
        """The entries that have a color: channels, then the plans of trainers."""
        names = (row.channel for row in self.rows)
        channels = [name for name in names if name and name != IDENTITY]
        others = (row.via for row in self.rows if row.channel is None)
        return list(dict.fromkeys([*channels, *others]))

    @cached_property
    def epsilons(self) -> list[float]:
        """Every epsilon, ascending."""
        return sorted({row.epsilon for row in self.rows if row.epsilon})

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """Limits of the y axis, common to all panels. None without figures."""
        return limits(
            self._figures,
            lower_is_better=self.metric in ERRORS,
            baselines=list(self.baselines.values()),
            spreads=[spread for _, spread in self._means],
        )

    @property
    def beyond(self) -> float | None:
        """The figure furthest outside the axis. None if all are inside."""
        return beyond(self._figures, self.limits)

    @cached_property
    def baselines(self) -> dict[str, float]:
        """Baselines without reports: the mean rating for RMSE, otherwise random lists and
        popularity without privacy."""
        if self.metric == "rmse":
            known = [row.rmse_of_mean for row in self.rows if not math.isnan(row.rmse_of_mean)]
            return {"mean rating": fmean(known)} if known else {}
        means = {name: self.free(model) for name, model in BASELINES.items()}
        return {name: mean for name, mean in means.items() if mean is not None}

    def text(self, figure: float) -> str:
        """Format a figure with the number of decimals of the metric."""
        return f"{figure:.{self._digits}f}"

    def lines(self, model: str) -> list[Line]:
        """Return the lines of a model, one per channel and location."""
        mine = [row for row in self.rows if row.method == model and row.epsilon is not None]
        kinds = dict.fromkeys((row.via, row.where) for row in mine)
        candidates = (self._line(mine, channel, where) for channel, where in kinds)
        return [line for line in candidates if line.points]

    def free(self, model: str) -> float | None:
        """Return the model's non-private mean at the provider. None if it was not run."""
        free = (row for row in self.rows if row.method == model and row.channel == IDENTITY)
        values = self._values([row for row in free if row.where == "provider"])
        return fmean(values) if values else None

    def panel(self, model: str) -> Panel | None:
        """Return the panel of a model. None without figures."""
        if self.limits is None:
            return None
        lines = self.lines(model)
        baselines = [ReferenceLine(name, at, self.text(at)) for name, at in self.baselines.items()]
        free = self.free(model)
        if free is not None and self.epsilons:
            points = [(epsilon, free, 0.0, self.text(free)) for epsilon in self.epsilons]
            lines.append(Line(FREE, 6, 0, "dotted", points))
        elif free is not None:
            baselines.insert(0, ReferenceLine(FREE, free, self.text(free)))
        ticks = [(epsilon, f"{epsilon:g}") for epsilon in self.epsilons]
        return Panel(model, epsilon_per(self.rows), ticks, self.limits, lines, baselines)

    @cached_property
    def panels(self) -> list[Panel]:
        """The panels of all models with figures."""
        return [panel for model in self.models if (panel := self.panel(model)) is not None]

    @cached_property
    def legend(self) -> list[LegendEntry]:
        """Channels with their colors, locations with their strokes, and baselines."""
        entries = [marker(name, number, number) for number, name in enumerate(self.shown)]
        places = dict.fromkeys(row.where for row in self.rows if row.method in self.models)
        entries += [LegendEntry(name, stroke=name) for name in places]
        if any(self.free(model) is not None for model in self.models):
            entries.append(LegendEntry(FREE, stroke="free"))
        return entries + [self._baseline(name, at) for name, at in self.baselines.items()]

    def figure(self) -> Figure:
        """Return all panels in one figure, with a legend of the channels."""
        return draw_all(self.panels, TITLES[self.metric], self.legend[: len(self.shown)])

    def report_figure(self) -> ReportFigure:
        """Return the figure for a page."""
        panels = [
            FigurePanel.of(panel, f"{self.metric}-{number}", panel.describe(TITLES[self.metric]))
            for number, panel in enumerate(self.panels)
        ]
        axis = epsilon_per(self.rows)
        caption = f", against {axis} on a log scale: left is more private. {self._spread()}"
        return ReportFigure(TITLES[self.metric], caption, self.legend, panels)

    def describe(self) -> str:
        """Return the text alternative of the complete figure."""
        sentences = [f"{TITLES[self.metric]}, against {epsilon_per(self.rows)}."]
        for panel in self.panels:
            sentences += [f"{panel.title}, {sentence}" for sentence in panel.sentences()]
        return " ".join(sentences)

    def _spread(self) -> str:
        splits = len({(row.seed, row.fold) for row in self.rows})
        spread = f"Error bars show one standard deviation over {splits} splits."
        sentence = spread if splits > 1 else ONE_SPLIT
        if self.beyond is None:
            return sentence
        return (
            f"{sentence} The largest value outside a panel is {self.beyond:.2f}. The table lists "
            "all values."
        )

    def _baseline(self, name: str, at: float) -> LegendEntry:
        """Return the legend entry of a baseline, with a remark if it is outside all panels."""
        low, high = self.limits or (at, at)
        off = ", above the panels" if at > high else ", below the panels" if at < low else ""
        return LegendEntry(f"{name}, {self.text(at)}{off}", stroke="mean")

    def _line(self, rows: Sequence[ResultRow], channel: str, where: str) -> Line:
        mine = [row for row in rows if row.via == channel and row.where == where]
        number, points = self.shown.index(channel), list[Point]()
        for epsilon in sorted({row.epsilon for row in mine if row.epsilon is not None}):
            if values := self._values([row for row in mine if row.epsilon == epsilon]):
                mean = fmean(values)
                points.append((epsilon, mean, pstdev(values), self.text(mean)))
        return Line(f"{channel}, {where}", number, number, STROKES[where], points)

    def _values(self, rows: Sequence[ResultRow]) -> list[float]:
        values = (float(getattr(row, self.metric)) for row in rows)
        return [value for value in values if not math.isnan(value)]

    @cached_property
    def _means(self) -> list[tuple[float, float]]:
        lines = [line for model in self.models for line in self.lines(model)]
        return [(mean, spread) for line in lines for _, mean, spread, _ in line.points]

    @cached_property
    def _figures(self) -> list[float]:
        free = [at for model in self.models if (at := self.free(model)) is not None]
        return [mean for mean, _ in self._means] + free

    @cached_property
    def _digits(self) -> int:
        return digits_of(self.rows, self.metric)
