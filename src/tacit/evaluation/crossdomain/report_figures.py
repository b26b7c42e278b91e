"""Report figures of cross-domain trials, static and interactive."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import pstdev

from tacit.evaluation.crossdomain.figures import (
    LOGARITHMIC,
    MEASURED,
    Styles,
    beside,
    ordered,
    panel,
    surface,
)
from tacit.evaluation.crossdomain.rows import (
    FLOORS,
    TrialRow,
    digits_of,
    listed,
    mean,
    measured,
    rated,
)
from tacit.evaluation.crossdomain.sweeps import (
    Surface,
    Sweep,
    SweepLine,
    surfaces,
    sweeps,
)
from tacit.evaluation.html.axis import limits
from tacit.evaluation.html.drawing import inline
from tacit.evaluation.html.figure import FigurePanel, LegendEntry, ReportFigure, marker
from tacit.evaluation.html.live import LiveFloor, LiveLine, LivePanel
from tacit.evaluation.units import units

STROKES = {"none": "solid", "strict": "dashed", "faithful": "dotdashed"}
# Legend strokes of the style sheet, by mode.
LEGEND = {"none": "provider", "strict": "device", "faithful": "curator"}
WORDS = {"none": "no privacy", "strict": "strict", "faithful": "as published"}
Kinds = Mapping[tuple[str, str], Sequence[TrialRow]]
BETTER = {"mae": "lower is better", "ndcg_at_20": "higher is better"}


def report_figures(rows: Sequence[TrialRow]) -> list[ReportFigure]:
    """Return the figures of the rows: along each varied axis, or of all systems if none varies, and
    of the lists of all systems, if measured."""
    known = rated(rows)
    drawn = [_against(axes, Styles(known), digits_of(known))] if (axes := sweeps(rows)) else []
    drawn += [_surfaces(grids, units(rows))] if (grids := surfaces(rows)) else []
    if known and not drawn:
        drawn = [_by_system(known, "mae", digits_of(known))]
    lists = [row for row in Sweep("epsilon", listed(rows)).here() if row.ndcg_at_20 is not None]
    digits = digits_of(listed(rows), "ndcg_at_20")
    return drawn + ([_by_system(lists, "ndcg_at_20", digits)] if lists else [])


def _against(axes: Sequence[Sweep], styles: Styles, digits: int) -> ReportFigure:
    panels = [_panel(sweep, styles, digits) for sweep in axes]
    stays = dict.fromkeys(word for sweep in axes for word in sweep.at_words)
    fixed = f" Fixed: {', '.join(stays)}." if stays else ""
    rows = axes[0].rows
    names = [marker(name, *styles.of(name)) for name in styles.names]
    modes = dict.fromkeys(row.mode for row in rows)
    strokes = [LegendEntry(WORDS[mode], stroke=LEGEND[mode]) for mode in modes]
    if any(row.floor for row in rows):
        strokes.append(LegendEntry("baseline: item mean", stroke="mean"))
    caption = f". Thin lines do not depend on the axis. {_spread(rows)}{fixed}"
    return ReportFigure(_title("mae"), caption, [*names, *strokes], panels)


def _spread(rows: Sequence[TrialRow]) -> str:
    seeds = len({row.seed for row in rows})
    if seeds == 1:
        return "One draw of test users, so the standard deviation is unknown."
    return f"Bars and bands are a standard deviation over {seeds} draws of test users."


def _title(metric: str) -> str:
    return f"{MEASURED[metric]} ({BETTER[metric]})"


def _panel(sweep: Sweep, styles: Styles, digits: int) -> FigurePanel:
    picture = inline(panel(sweep, styles), f"against-{sweep.axis}", sweep.describe())
    if sweep.limits is None:
        return FigurePanel(picture)
    lines = [_line(line, *styles.of(line.method), digits) for line in sweep.lines()]
    ticks = [(tick, f"{tick:g}") for tick in sweep.places]
    log = sweep.axis in LOGARITHMIC
    title = "" if sweep.beyond is None else f"cut; the largest is {sweep.beyond:.2f}"
    live = LivePanel(title, sweep.name, ticks, sweep.limits, lines, logarithmic=log)
    return FigurePanel(picture, live)


def _line(line: SweepLine, hue: int, shape: int, digits: int) -> LiveLine:
    points = [(x, mean, spread, f"{mean:.{digits}f}") for x, mean, spread in line.points]
    stroke = "baseline" if (line.method, line.mode) in FLOORS else STROKES[line.mode]
    name = line.method if line.mode == "none" else f"{line.method}, {WORDS[line.mode]}"
    return LiveLine(name, hue, shape, stroke, points, line.even)


def _by_system(rows: Sequence[TrialRow], metric: str, digits: int) -> ReportFigure:
    seeds = len({row.seed for row in rows})
    spread = f"bars are a standard deviation over {seeds} draws" if seeds > 1 else "one draw"
    kinds = ordered(rows, metric)
    values = ", ".join(
        f"{', '.join(kind)} {mean(mine, metric):.{digits}f}" for kind, mine in kinds.items()
    )
    words = f"{MEASURED[metric]} of every system: {values}."
    picture = inline(beside(rows, metric), f"systems-{metric}", words)
    floors = _floors(kinds.values(), metric, digits)
    legend = [LegendEntry(f"baseline: {baseline.name}", stroke="mean") for baseline in floors]
    caption = f"; {spread}."
    live = _rows(kinds, metric, Styles(rows), floors, digits)
    return ReportFigure(_title(metric), caption, legend, [FigurePanel(picture, live)])


def _rows(
    kinds: Kinds, metric: str, styles: Styles, floors: Sequence[LiveFloor], digits: int
) -> LivePanel | None:
    """Return the interactive panel with one row per system."""
    lines: list[LiveLine] = []
    for row, ((method, claim), mine) in enumerate(kinds.items()):
        at, spread = mean(mine, metric), pstdev(measured(mine, metric))
        name = f"{method}, {claim}"
        points = [(at, float(row), spread, f"{at:.{digits}f}")]
        lines.append(LiveLine(name, *styles.of(method), "solid", points))
    ends = limits(
        [line.points[0][0] for line in lines],
        lower_is_better=metric == "mae",
        spreads=[line.points[0][2] for line in lines],
    )
    names = [line.name for line in lines]
    return LivePanel("", MEASURED[metric], [], ends, lines, floors, rows=names) if ends else None


def _floors(kinds: Iterable[Sequence[TrialRow]], metric: str, digits: int) -> list[LiveFloor]:
    floors = [(mine[0].method, mean(mine, metric)) for mine in kinds if mine[0].floor]
    return [LiveFloor(name, value, f"{value:.{digits}f}") for name, value in floors]


def _surfaces(grids: Sequence[Surface], unit: str) -> ReportFigure:
    panels = [
        FigurePanel(inline(surface(grid), f"surface-{number}", grid.describe()))
        for number, grid in enumerate(grids)
    ]
    caption = ". One budget is for item replacement, the other for neighbor selection."
    return ReportFigure(f"mean absolute error at two epsilons per {unit}", caption, [], panels)
