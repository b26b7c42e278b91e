"""Success of an attack against epsilon: a panel per plan and channel."""

# matplotlib's type annotations of keyword arguments and colours are incomplete.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from matplotlib.figure import Figure

from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import digits_of
from tacit.evaluation.comparison.figures import MARKERS, PALETTE, PANEL, dress, floor
from tacit.evaluation.html.drawing import inline
from tacit.evaluation.html.figure import FigurePanel, LegendEntry, ReportFigure, marker
from tacit.evaluation.html.live import LiveFloor, LiveLine, LivePanel, Point
from tacit.evaluation.units import epsilon_per

ENDS = (-0.03, 1.06)
MOST_LINES = 7
Way = tuple[str | None, str | None]
Shares = tuple[float, float, float]


@dataclass(frozen=True)
class FoundPanel:
    """One attack under one plan and channel: the first metric of each setting, a share."""

    way: Way
    rows: Sequence[AttackRow]

    @property
    def title(self) -> str:
        """Plan and channel."""
        return ", ".join(str(part) for part in self.way if part is not None)

    @property
    def epsilons(self) -> list[float]:
        """Epsilons of the points, ascending, in nats."""
        return sorted({row.epsilon for row in self.rows if row.epsilon is not None})

    def points(self, name: str) -> list[Shares]:
        """Return (epsilon, mean, deviation over draws or standard error of a single one)."""
        shares: list[Shares] = []
        for epsilon, mine in self._by_epsilon(name).items():
            values = [row.value for row in mine]
            spread = pstdev(values) if len(values) > 1 else mine[0].error
            shares.append((epsilon, fmean(values), spread))
        return shares

    def baseline_points(self, name: str) -> list[Shares]:
        """Return the baseline at each epsilon, in most attacks the success without reports."""
        groups = self._by_epsilon(name)
        return [(e, fmean(row.baseline for row in mine), 0.0) for e, mine in groups.items()]

    def even(self, name: str) -> bool:
        """Return whether the baseline is constant, and drawn as one dashed line."""
        return len({f"{at:.6f}" for _, at, _ in self.baseline_points(name)}) < 2

    @property
    def floors(self) -> dict[str, float]:
        """Constant baselines, by the settings that share them."""
        alike: dict[str, list[str]] = {}
        for name in filter(self.even, dict.fromkeys(row.setting for row in self.rows)):
            alike.setdefault(f"{self.baseline_points(name)[0][1]:.6f}", []).append(name)
        places = {
            " or ".join(names): self.baseline_points(names[0])[0][1] for names in alike.values()
        }
        if len(places) == 1:
            return {"baseline": next(iter(places.values()))}
        return {f"{names}, baseline": baseline for names, baseline in places.items()}

    def _by_epsilon(self, name: str) -> dict[float, list[AttackRow]]:
        mine = [row for row in self.rows if row.setting == name]
        groups = {e: [row for row in mine if row.epsilon == e] for e in self.epsilons}
        return {epsilon: rows for epsilon, rows in groups.items() if rows}


def found_figure(rows: Sequence[AttackRow]) -> ReportFigure | None:
    """Return the figure of one attack. None without rows at an epsilon."""
    first = {row.setting: row.figure for row in reversed(rows)}
    shown = [row for row in rows if row.epsilon is not None and first[row.setting] == row.figure]
    if not shown:
        return None
    names = _changing(shown)
    rows_shown = [row for row in shown if row.setting in names]
    ways = dict.fromkeys((row.plan, row.channel) for row in rows_shown)
    panels = [
        FoundPanel(way, [r for r in rows_shown if (r.plan, r.channel) == way]) for way in ways
    ]
    digits = digits_of(rows)
    legend = [marker(name, *style(number)) for number, name in enumerate(names)]
    return ReportFigure(
        f"{', '.join(dict.fromkeys(row.figure for row in rows_shown))}, as a share",
        f", against {epsilon_per(shown)} on a log scale: left is more private. {_spread(shown)}"
        f"{_left_out(shown, names)}",
        [*legend, LegendEntry(f"baseline: {rows[0].beside}", stroke="mean")],
        [_panel(each, number, names, digits) for number, each in enumerate(panels)],
    )


def _changing(rows: Sequence[AttackRow]) -> list[str]:
    """Return the settings that depend most on epsilon and channel, at most one per colour."""
    values_of: dict[str, list[float]] = {}
    for row in rows:
        values_of.setdefault(row.setting, []).append(row.value)
    ranges = {name: max(values) - min(values) for name, values in values_of.items()}
    most = sorted(ranges, key=lambda name: -ranges[name])[:MOST_LINES]
    changing = [name for name in values_of if name in most and ranges[name] > 0]
    return changing or list(values_of)[:MOST_LINES]


def _left_out(rows: Sequence[AttackRow], names: Sequence[str]) -> str:
    every = len({row.setting for row in rows})
    if every == len(names):
        return ""
    return f" {len(names)} of {every} lines, those that depend on epsilon most. The table has all."


def style(number: int) -> tuple[int, int]:
    """Return the numbers of a line's colour and marker, a distinct pair per line."""
    return number % len(PALETTE), (number + number // len(PALETTE)) % len(MARKERS)


def _spread(rows: Sequence[AttackRow]) -> str:
    seeds = len({row.seed for row in rows})
    return f"Bars are a standard {'error' if seeds == 1 else f'deviation over {seeds} draws'}."


def _panel(panel: FoundPanel, number: int, names: Sequence[str], digits: int) -> FigurePanel:
    attack = panel.rows[0].attack
    values = "; ".join(
        f"{name}: " + ", ".join(f"{at:.{digits}f} at {e:g}" for e, at, _ in panel.points(name))
        for name in names
    )
    words = f"{attack}, {panel.title}. {values}."
    picture = inline(picture_of(panel, names), f"{attack}-{number}", words)
    lines: list[LiveLine] = []
    for index, name in enumerate(names):
        look = style(index)
        lines.append(LiveLine(name, *look, "solid", _points(panel.points(name), digits)))
        if not panel.even(name):
            bare = _points(panel.baseline_points(name), digits)
            lines.append(LiveLine(f"{name}, baseline", *look, "baseline", bare))
    floors = [LiveFloor(name, at, f"{at:.{digits}f}") for name, at in panel.floors.items()]
    ticks = [(epsilon, f"{epsilon:g}") for epsilon in panel.epsilons]
    return FigurePanel(
        picture, LivePanel(panel.title, epsilon_per(panel.rows), ticks, ENDS, lines, floors)
    )


def _points(points: Sequence[Shares], digits: int) -> list[Point]:
    return [(epsilon, at, spread, f"{at:.{digits}f}") for epsilon, at, spread in points]


def picture_of(panel: FoundPanel, names: Sequence[str]) -> Figure:
    """Return the panel as a standalone figure."""
    drawing = Figure(figsize=PANEL, layout="constrained")
    axes = drawing.subplots()
    for number, name in enumerate(names):
        hue, shape = style(number)
        points = panel.points(name)
        epsilons, shares, spreads = zip(*points, strict=True) if points else ((), (), ())
        axes.errorbar(
            epsilons, shares, spreads, color=PALETTE[hue], marker=MARKERS[shape],
            markersize=4, linewidth=1.4, elinewidth=0.8,
        )  # fmt: skip
        if not panel.even(name):
            epsilons, shares, _ = zip(*panel.baseline_points(name), strict=True)
            axes.plot(epsilons, shares, color=PALETTE[hue], linewidth=0.9, dashes=(5, 4))
    dress(axes, panel.title, panel.epsilons, epsilon_per(panel.rows))
    axes.set_ylim(*ENDS)
    for name, at in panel.floors.items():
        floor(axes, name, at)
    return drawing
