"""Figures of cross-domain trials: error along each varied axis, pairs of epsilons, all systems."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev

from tacit.reporting.page import FigurePanel, ReportFigure
from tacit.reporting.panel import (
    LegendEntry,
    Line,
    Panel,
    Point,
    ReferenceLine,
    beyond,
    limits,
    marker,
    style,
)
from tacit.reporting.table import epsilon_per, units
from tacit.results.crossdomain.rows import (
    BASELINES,
    TrialRow,
    digits_of,
    listed,
    mean,
    measured,
    rated,
)
from tacit.results.crossdomain.surfaces import surface_figure, surfaces

AXES = {
    "k": "neighbours k",
    "overlap": "share of users that link the domains",
    "keep": "target ratings that a test user keeps",
    "decay": "decay of older ratings",
    "epsilon": "epsilon",
}
PUBLISHED_K = 50
LOGARITHMIC = ("k", "epsilon")
STROKES = {"none": "solid", "strict": "dashed", "faithful": "dotdashed"}
# Legend strokes of the style sheet, by mode.
LEGEND = {"none": "provider", "strict": "device", "faithful": "curator"}
MODES = {"none": "no privacy", "strict": "strict", "faithful": "as published"}
METRICS = {"mae": "mean absolute error", "ndcg_at_20": "NDCG@20"}
BETTER = {"mae": "lower is better", "ndcg_at_20": "higher is better"}
Kinds = Mapping[tuple[str, str], Sequence[TrialRow]]


class Styles:
    """Color and marker of every system, a distinct pair each."""

    def __init__(self, rows: Sequence[TrialRow]) -> None:
        self.names = list(dict.fromkeys(row.method for row in rows))

    def of(self, method: str) -> tuple[int, int]:
        """Return the numbers of a system's color and marker."""
        return style(self.names.index(method))


@dataclass(frozen=True)
class Sweep:
    """MAE along one axis of `AXES`. The other axes are fixed at `at`.

    Overlap is fixed at the largest value, kept ratings and decay at the smallest, k at the one
    nearest to 50, and each system's claim at the one nearest to epsilon 1.
    """

    axis: str
    rows: Sequence[TrialRow]

    @cached_property
    def places(self) -> list[float]:
        """Values on the axis, ascending."""
        values = {getattr(row, self.axis) for row in self.rows}
        return sorted(float(value) for value in values if value is not None)

    @property
    def name(self) -> str:
        """Label of the axis, with the unit of epsilon."""
        return epsilon_per(self.rows) if self.axis == "epsilon" else AXES[self.axis]

    @property
    def varies(self) -> bool:
        """Whether there are at least two values."""
        return len(self.places) > 1

    @cached_property
    def at(self) -> dict[str, float]:
        """Fixed values of the other axes that vary, without claims."""
        overlap, keep, k, decay = (
            Sweep(axis, self.rows).places for axis in ("overlap", "keep", "k", "decay")
        )
        chosen = {
            "overlap": overlap[-1:],
            "keep": keep[:1],
            "k": sorted(k, key=_distance(PUBLISHED_K)),
            "decay": decay[:1],
        }
        varied = {axis: places for axis, places in chosen.items() if Sweep(axis, self.rows).varies}
        return {axis: places[0] for axis, places in varied.items() if axis != self.axis}

    @property
    def at_words(self) -> list[str]:
        """Fixed values of the other axes, for a caption."""
        words = [f"{axis} {value:g}" for axis, value in self.at.items()]
        claims = self.axis != "epsilon" and Sweep("epsilon", self.rows).varies
        return words + ["the epsilon nearest 1"] * claims

    def here(self) -> list[TrialRow]:
        """Return the rows at the fixed values, at every epsilon."""
        fixed = self.at.items()
        return [r for r in self.rows if all(getattr(r, a) in (None, value) for a, value in fixed)]

    def lines(self, styles: Styles, digits: int = 3) -> list[Line]:
        """Return the line of every system, in order of appearance."""
        kinds: dict[tuple[str, str], list[TrialRow]] = {}
        for row in self.here():
            kinds.setdefault((row.method, row.mode), []).append(row)
        every = self.axis == "epsilon"
        one = {kind: rows if every else _one_claim(rows) for kind, rows in kinds.items()}
        return [self._line(*kind, rows, styles, digits) for kind, rows in one.items()]

    def panel(self, styles: Styles, digits: int = 3) -> Panel | None:
        """Return the panel, with a title if a line is outside the axis. None without figures."""
        lines = self.lines(styles, digits)
        means = [at for line in lines for _, at, _, _ in line.points]
        spreads = [spread for line in lines for _, _, spread, _ in line.points]
        ends = limits(means, lower_is_better=True, spreads=spreads)
        if ends is None:
            return None
        worst = beyond(means, ends)
        title = "" if worst is None else f"cropped; the largest value is {worst:.2f}"
        ticks = [(tick, f"{tick:g}") for tick in self.places]
        return Panel(title, self.name, ticks, ends, lines, logarithmic=self.axis in LOGARITHMIC)

    def _line(
        self, method: str, mode: str, rows: Sequence[TrialRow], styles: Styles, digits: int
    ) -> Line:
        even = all(getattr(row, self.axis) is None for row in rows)
        points = list[Point]()
        for place in self.places if even else Sweep(self.axis, rows).places:
            values = measured([r for r in rows if getattr(r, self.axis) in (None, place)])
            at = fmean(values)
            points.append((place, at, pstdev(values), f"{at:.{digits}f}"))
        name = method if mode == "none" else f"{method}, {MODES[mode]}"
        return Line(name, *styles.of(method), stroke(method, mode), points, even)


def stroke(method: str, mode: str) -> str:
    """Return the stroke of a line, by its mode, or that of baselines."""
    return "baseline" if (method, mode) in BASELINES else STROKES[mode]


def sweeps(rows: Sequence[TrialRow]) -> list[Sweep]:
    """Return a sweep along every axis that varies. Systems with a surface are not in the sweep of
    epsilon. Baselines of lists have no rating error and are excluded.
    """
    rows = rated(rows)
    parted = {surface.method for surface in surfaces(at_fixed(rows))}
    single = [row for row in rows if row.method not in parted]
    axes = (Sweep(axis, single if axis == "epsilon" else rows) for axis in AXES)
    return [sweep for sweep in axes if sweep.varies]


def at_fixed(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows of every epsilon, at the fixed values of the other axes."""
    return Sweep("epsilon", rows).here()


def report_figures(rows: Sequence[TrialRow]) -> list[ReportFigure]:
    """Return the figures of the rows: along each varied axis, or of all systems if none varies, and
    of the lists of all systems, if measured."""
    known = rated(rows)
    drawn = [_against(axes, Styles(known), digits_of(known))] if (axes := sweeps(rows)) else []
    drawn += [surface_figure(grids, units(rows))] if (grids := surfaces(at_fixed(rows))) else []
    if known and not drawn:
        drawn = [_by_system(known, "mae", digits_of(known))]
    lists = [row for row in at_fixed(listed(rows)) if row.ndcg_at_20 is not None]
    digits = digits_of(listed(rows), "ndcg_at_20")
    return drawn + ([_by_system(lists, "ndcg_at_20", digits)] if lists else [])


def by_system(rows: Sequence[TrialRow], metric: str, digits: int) -> Panel | None:
    """Return a panel with one row per system and claim, the best on top. None without figures."""
    kinds, styles = _ordered(rows, metric), Styles(rows)
    lines: list[Line] = []
    for row, ((method, claim), mine) in enumerate(kinds.items()):
        at, spread = mean(mine, metric), pstdev(measured(mine, metric))
        points = [(at, float(row), spread, f"{at:.{digits}f}")]
        lines.append(Line(f"{method}, {claim}", *styles.of(method), "solid", points))
    ends = limits(
        [line.points[0][0] for line in lines],
        lower_is_better=metric == "mae",
        spreads=[line.points[0][2] for line in lines],
    )
    names, baselines = [line.name for line in lines], _baselines(kinds.values(), metric, digits)
    return Panel("", METRICS[metric], [], ends, lines, baselines, rows=names) if ends else None


def _against(axes: Sequence[Sweep], styles: Styles, digits: int) -> ReportFigure:
    panels = [
        FigurePanel.of(panel, f"against-{sweep.axis}", panel.describe("Mean absolute error"))
        for sweep in axes
        if (panel := sweep.panel(styles, digits)) is not None
    ]
    words = dict.fromkeys(word for sweep in axes for word in sweep.at_words)
    fixed = f" Fixed: {', '.join(words)}." if words else ""
    rows = axes[0].rows
    names = [marker(name, *styles.of(name)) for name in styles.names]
    modes = dict.fromkeys(row.mode for row in rows)
    strokes = [LegendEntry(MODES[mode], stroke=LEGEND[mode]) for mode in modes]
    if any(row.baseline for row in rows):
        strokes.append(LegendEntry("baselines: constants, item mean", stroke="mean"))
    caption = f". Thin lines show systems that do not depend on the x-axis. {_spread(rows)}{fixed}"
    return ReportFigure(_title("mae"), caption, [*names, *strokes], panels)


def _spread(rows: Sequence[TrialRow]) -> str:
    seeds = len({row.seed for row in rows})
    if seeds == 1:
        return "One draw of test users, so the standard deviation cannot be estimated."
    return f"Error bars and bands show one standard deviation over {seeds} draws of test users."


def _title(metric: str) -> str:
    return f"{METRICS[metric]} ({BETTER[metric]})"


def _by_system(rows: Sequence[TrialRow], metric: str, digits: int) -> ReportFigure:
    seeds = len({row.seed for row in rows})
    spread = (
        f"error bars show one standard deviation over {seeds} draws" if seeds > 1 else "one draw"
    )
    panel = by_system(rows, metric, digits)
    if panel is None:
        return ReportFigure(_title(metric), f"; {spread}.", [], [])
    legend = [LegendEntry(f"baseline: {each.name}", stroke="mean") for each in panel.baselines]
    words = " ".join([f"{METRICS[metric]} of every system.", *panel.sentences()])
    drawn = FigurePanel.of(panel, f"systems-{metric}", words)
    return ReportFigure(_title(metric), f"; {spread}.", legend, [drawn])


def _ordered(rows: Sequence[TrialRow], metric: str) -> dict[tuple[str, str], list[TrialRow]]:
    """Group the rows that have the metric by system and claim, the best last."""
    groups: dict[tuple[str, str], list[TrialRow]] = {}
    for row in rows:
        if measured([row], metric):
            groups.setdefault((row.method, row.claim), []).append(row)
    upwards = sorted(groups, key=lambda kind: mean(groups[kind], metric), reverse=metric == "mae")
    return {kind: groups[kind] for kind in upwards}


def _baselines(
    kinds: Iterable[Sequence[TrialRow]], metric: str, digits: int
) -> list[ReferenceLine]:
    known = [(mine[0].method, mean(mine, metric)) for mine in kinds if mine[0].baseline]
    return [ReferenceLine(name, value, f"{value:.{digits}f}") for name, value in known]


def _one_claim(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows of the claim nearest to epsilon 1, ties by the smaller replacement part."""
    claims = {(row.epsilon or 0.0, row.replacement_epsilon or 0.0) for row in rows}
    chosen = min(claims, key=lambda claim: (*_distance(1)(claim[0]), claim[1]))
    return [r for r in rows if (r.epsilon or 0.0, r.replacement_epsilon or 0.0) == chosen]


def _distance(wanted: float) -> Callable[[float], tuple[float, float]]:
    """Return a sort key: distance from `wanted`, ties by the smaller value."""
    return lambda value: (abs(value - wanted), value)
