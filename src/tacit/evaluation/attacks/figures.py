"""Success of an attack against epsilon: a panel per plan and channel."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
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
    """One attack under one plan and channel: of each of its settings the first figure, a share."""

    way: Way
    rows: Sequence[AttackRow]

    @property
    def title(self) -> str:
        """Plan and channel."""
        return ", ".join(str(part) for part in self.way if part is not None)

    @property
    def epsilons(self) -> list[float]:
        """Where there are points, ascending, in nats."""
        return sorted({row.epsilon for row in self.rows if row.epsilon is not None})

    def points(self, name: str) -> list[Shares]:
        """(epsilon, mean, deviation over draws, or the standard error of a single one)."""
        found: list[Shares] = []
        for epsilon, mine in self._by_epsilon(name).items():
            values = [row.value for row in mine]
            spread = pstdev(values) if len(values) > 1 else mine[0].error
            found.append((epsilon, fmean(values), spread))
        return found

    def beside(self, name: str) -> list[Shares]:
        """What stands beside it, as rows say: mostly the same without reports."""
        groups = self._by_epsilon(name)
        return [(e, fmean(row.baseline for row in mine), 0.0) for e, mine in groups.items()]

    def even(self, name: str) -> bool:
        """Whether that is one figure at every epsilon: then it is a floor, else a line."""
        return len({f"{at:.6f}" for _, at, _ in self.beside(name)}) < 2

    @property
    def floors(self) -> dict[str, float]:
        """What is beside at every epsilon alike, by the settings that share it."""
        alike: dict[str, list[str]] = {}
        for name in filter(self.even, dict.fromkeys(row.setting for row in self.rows)):
            alike.setdefault(f"{self.beside(name)[0][1]:.6f}", []).append(name)
        places = {" or ".join(names): self.beside(names[0])[0][1] for names in alike.values()}
        if len(places) == 1:
            return {"baseline": next(iter(places.values()))}
        return {f"{names}, baseline": place for names, place in places.items()}

    def _by_epsilon(self, name: str) -> dict[float, list[AttackRow]]:
        mine = [row for row in self.rows if row.setting == name]
        groups = {e: [row for row in mine if row.epsilon == e] for e in self.epsilons}
        return {epsilon: rows for epsilon, rows in groups.items() if rows}


def found_figure(rows: Sequence[AttackRow]) -> ReportFigure | None:
    """The figure of one attack; None where nothing was protected at any epsilon."""
    first = {row.setting: row.figure for row in reversed(rows)}
    shown = [row for row in rows if row.epsilon is not None and first[row.setting] == row.figure]
    if not shown:
        return None
    names = _changing(shown)
    kept = [row for row in shown if row.setting in names]
    ways = dict.fromkeys((row.plan, row.channel) for row in kept)
    panels = [FoundPanel(way, [r for r in kept if (r.plan, r.channel) == way]) for way in ways]
    digits = digits_of(rows)
    legend = [marker(name, *style(number)) for number, name in enumerate(names)]
    return ReportFigure(
        f"{', '.join(dict.fromkeys(row.figure for row in kept))}, as a share",
        f", against {epsilon_per(shown)} on a log scale: left is more private. {_spread(shown)}"
        f"{_left_out(shown, names)}",
        [*legend, LegendEntry(f"baseline: {rows[0].beside}", stroke="mean")],
        [_panel(each, number, names, digits) for number, each in enumerate(panels)],
    )


def _changing(rows: Sequence[AttackRow]) -> list[str]:
    """What depends on epsilon and the channel most, as many lines as there are colours."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row.setting, []).append(row.value)
    ranges = {name: max(values) - min(values) for name, values in found.items()}
    most = sorted(ranges, key=lambda name: -ranges[name])[:MOST_LINES]
    changing = [name for name in found if name in most and ranges[name] > 0]
    return changing or list(found)[:MOST_LINES]


def _left_out(rows: Sequence[AttackRow], names: Sequence[str]) -> str:
    every = len({row.setting for row in rows})
    if every == len(names):
        return ""
    return f" {len(names)} of {every} lines, those that depend on epsilon most. The table has all."


def style(number: int) -> tuple[int, int]:
    """Numbers of a line's colour and marker: no two lines share both."""
    return number % len(PALETTE), (number + number // len(PALETTE)) % len(MARKERS)


def _spread(rows: Sequence[AttackRow]) -> str:
    seeds = len({row.seed for row in rows})
    return f"Bars are a standard {'error' if seeds == 1 else f'deviation over {seeds} draws'}."


def _panel(panel: FoundPanel, number: int, names: Sequence[str], digits: int) -> FigurePanel:
    attack = panel.rows[0].attack
    said = "; ".join(
        f"{name}: " + ", ".join(f"{at:.{digits}f} at {e:g}" for e, at, _ in panel.points(name))
        for name in names
    )
    words = f"{attack}, {panel.title}. {said}."
    picture = inline(picture_of(panel, names), f"{attack}-{number}", words)
    lines: list[LiveLine] = []
    for place, name in enumerate(names):
        look = style(place)
        lines.append(LiveLine(name, *look, "solid", _said(panel.points(name), digits)))
        if not panel.even(name):
            bare = _said(panel.beside(name), digits)
            lines.append(LiveLine(f"{name}, baseline", *look, "floor", bare))
    floors = [LiveFloor(name, at, f"{at:.{digits}f}") for name, at in panel.floors.items()]
    ticks = [(epsilon, f"{epsilon:g}") for epsilon in panel.epsilons]
    return FigurePanel(
        picture, LivePanel(panel.title, epsilon_per(panel.rows), ticks, ENDS, lines, floors)
    )


def _said(points: Sequence[Shares], digits: int) -> list[Point]:
    return [(epsilon, at, spread, f"{at:.{digits}f}") for epsilon, at, spread in points]


def picture_of(panel: FoundPanel, names: Sequence[str]) -> Figure:
    """The panel as a figure of its own."""
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
            epsilons, shares, _ = zip(*panel.beside(name), strict=True)
            axes.plot(epsilons, shares, color=PALETTE[hue], linewidth=0.9, dashes=(5, 4))
    dress(axes, panel.title, panel.epsilons, epsilon_per(panel.rows))
    axes.set_ylim(*ENDS)
    for name, at in panel.floors.items():
        floor(axes, name, at)
    return drawing
