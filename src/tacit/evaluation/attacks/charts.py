"""Success of an attack against epsilon: a panel per plan and channel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.attacks.tables import digits_of
from tacit.reporting.page import FigurePanel, ReportFigure
from tacit.reporting.panel import PALETTE as COLORS
from tacit.reporting.panel import LegendEntry, Line, Panel, Point, ReferenceLine, marker, style
from tacit.reporting.table import epsilon_per

ENDS = (-0.03, 1.06)
Way = tuple[str | None, str | None]


@dataclass(frozen=True)
class AttackPanel:
    """One attack under one plan and channel: the first metric of each setting, a share."""

    way: Way
    rows: Sequence[AttackRow]
    digits: int

    @property
    def title(self) -> str:
        """Plan and channel."""
        return ", ".join(str(part) for part in self.way if part is not None)

    @property
    def epsilons(self) -> list[float]:
        """Epsilons of the points, ascending, in nats."""
        return sorted({row.epsilon for row in self.rows if row.epsilon is not None})

    def points(self, name: str) -> list[Point]:
        """Return the shares, with their deviation over draws or the standard error of a single
        one."""
        points: list[Point] = []
        for epsilon, mine in self._by_epsilon(name).items():
            values = [row.value for row in mine]
            spread = pstdev(values) if len(values) > 1 else mine[0].error
            points.append(self._point(epsilon, fmean(values), spread))
        return points

    def baseline_points(self, name: str) -> list[Point]:
        """Return the baseline at each epsilon, in most attacks the success without reports."""
        groups = self._by_epsilon(name)
        return [
            self._point(e, fmean(row.baseline for row in mine), 0.0) for e, mine in groups.items()
        ]

    def is_constant(self, name: str) -> bool:
        """Return whether the baseline is constant, and drawn as one dashed line."""
        return len({f"{at:.6f}" for _, at, _, _ in self.baseline_points(name)}) < 2

    @property
    def baselines(self) -> list[ReferenceLine]:
        """Constant baselines, by the settings that share them."""
        alike: dict[str, list[str]] = {}
        for name in filter(self.is_constant, dict.fromkeys(row.setting for row in self.rows)):
            alike.setdefault(f"{self.baseline_points(name)[0][1]:.6f}", []).append(name)
        found: list[ReferenceLine] = []
        for names in alike.values():
            _, at, _, text = self.baseline_points(names[0])[0]
            words = "baseline" if len(alike) == 1 else f"{' or '.join(names)}, baseline"
            found.append(ReferenceLine(words, at, text))
        return found

    def panel(self, names: Sequence[str]) -> Panel:
        """Return the panel with a line per setting in `names`."""
        ticks = [(epsilon, f"{epsilon:g}") for epsilon in self.epsilons]
        axis = epsilon_per(self.rows)
        return Panel(self.title, axis, ticks, ENDS, list(self._lines(names)), self.baselines)

    def _lines(self, names: Sequence[str]) -> Iterator[Line]:
        for number, name in enumerate(names):
            yield Line(name, *style(number), "solid", self.points(name))
            if not self.is_constant(name):
                points = self.baseline_points(name)
                yield Line(f"{name}, baseline", *style(number), "baseline", points)

    def _point(self, epsilon: float, at: float, spread: float) -> Point:
        return epsilon, at, spread, f"{at:.{self.digits}f}"

    def _by_epsilon(self, name: str) -> dict[float, list[AttackRow]]:
        mine = [row for row in self.rows if row.setting == name]
        groups = {e: [row for row in mine if row.epsilon == e] for e in self.epsilons}
        return {epsilon: rows for epsilon, rows in groups.items() if rows}


def attack_figure(rows: Sequence[AttackRow]) -> ReportFigure | None:
    """Return the figure of one attack. None without rows at an epsilon."""
    first = {row.setting: row.figure for row in reversed(rows)}
    shown = [row for row in rows if row.epsilon is not None and first[row.setting] == row.figure]
    if not shown:
        return None
    names, digits = _changing(shown), digits_of(rows)
    known = [row for row in shown if row.setting in names]
    ways = dict.fromkeys((row.plan, row.channel) for row in known)
    groups = [[row for row in known if (row.plan, row.channel) == way] for way in ways]
    panels = [
        AttackPanel(way, mine, digits).panel(names) for way, mine in zip(ways, groups, strict=True)
    ]
    legend = [marker(name, *style(number)) for number, name in enumerate(names)]
    return ReportFigure(
        f"{', '.join(dict.fromkeys(row.figure for row in known))}, as a share",
        f", against {epsilon_per(shown)} on a log scale: left is more private. {_spread(shown)}"
        f"{_omitted(shown, names)}",
        [*legend, LegendEntry(f"baseline: {rows[0].beside}", stroke="mean")],
        [_figure_panel(rows[0].attack, each, number) for number, each in enumerate(panels)],
    )


def _figure_panel(attack: str, panel: Panel, number: int) -> FigurePanel:
    words = panel.describe(f"{attack}, {panel.title}")
    return FigurePanel.of(panel, f"{attack}-{number}", words)


def _changing(rows: Sequence[AttackRow]) -> list[str]:
    """Return the settings that depend most on epsilon and channel, at most one per color."""
    values_of: dict[str, list[float]] = {}
    for row in rows:
        values_of.setdefault(row.setting, []).append(row.value)
    ranges = {name: max(values) - min(values) for name, values in values_of.items()}
    most = sorted(ranges, key=lambda name: -ranges[name])[: len(COLORS)]
    changing = [name for name in values_of if name in most and ranges[name] > 0]
    return changing or list(values_of)[: len(COLORS)]


def _omitted(rows: Sequence[AttackRow], names: Sequence[str]) -> str:
    every = len({row.setting for row in rows})
    if every == len(names):
        return ""
    return f" {len(names)} of {every} lines, those that depend on epsilon most. The table has all."


def _spread(rows: Sequence[AttackRow]) -> str:
    seeds = len({row.seed for row in rows})
    return f"Bars are a standard {'error' if seeds == 1 else f'deviation over {seeds} draws'}."
