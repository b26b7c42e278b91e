"""Figures of cross-domain trials in a page: a panel an axis, and surfaces of two epsilons."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from collections.abc import Sequence
from statistics import pstdev

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tacit.evaluation.comparison.figures import INK, MARKERS, PALETTE, PANEL, dress
from tacit.evaluation.crossdomain.rows import TrialRow, mean, measured, rated
from tacit.evaluation.crossdomain.sweeps import AXES, Surface, Sweep, SweepLine, surfaces, sweeps
from tacit.evaluation.html.drawing import inline
from tacit.evaluation.html.figure import LegendEntry, ReportFigure, marker

STROKES = {"none": "-", "strict": "--", "faithful": "-."}
# Lines of a legend in the page's style sheet, and what they stand for here.
LEGEND = {"none": "provider", "strict": "device", "faithful": "curator"}
WORDS = {"none": "no privacy", "strict": "strict", "faithful": "as published"}
MAE = "mean absolute error (lower is better)"
LOGARITHMIC = ("k", "epsilon")
FAINT, DEEP = 0.06, 0.55  # how much colour the lowest and the highest of a surface have


class Styles:
    """The colour and the marker of every system: no two share both."""

    def __init__(self, rows: Sequence[TrialRow]) -> None:
        self.names = list(dict.fromkeys(row.method for row in rows))

    def of(self, method: str) -> tuple[int, int]:
        """Numbers of its colour and its marker."""
        place = self.names.index(method)
        return place % len(PALETTE), (place + place // len(PALETTE)) % len(MARKERS)


def report_figures(rows: Sequence[TrialRow]) -> list[ReportFigure]:
    """The figures in which the rows have something to say: along each axis that varies, or else
    every system beside the others."""
    known = rated(rows)
    drawn = [_against(found, Styles(known))] if (found := sweeps(rows)) else []
    drawn += [_surfaces(grids)] if (grids := surfaces(rows)) else []
    return drawn or ([_beside(known)] if known else [])


def beside(rows: Sequence[TrialRow]) -> Figure:
    """MAE of every system and claim, the lowest first; a bar is a deviation over seeds."""
    kinds = dict.fromkeys((row.method, row.claim) for row in rows)
    groups = {kind: [row for row in rows if (row.method, row.claim) == kind] for kind in kinds}
    ordered = sorted(groups, key=lambda kind: mean(groups[kind]), reverse=True)
    styles, drawing = Styles(rows), Figure(figsize=(6.4, 0.8 + 0.26 * len(kinds)))
    drawing.set_layout_engine("constrained")
    axes = drawing.subplots()
    for place, kind in enumerate(ordered):
        hue, marker = styles.of(kind[0])
        maes = measured(groups[kind], "mae")
        axes.errorbar(
            mean(groups[kind]), place, xerr=pstdev(maes), color=PALETTE[hue],
            marker=MARKERS[marker], markersize=5, elinewidth=0.8,
        )  # fmt: skip
    places = axes.get_xticks().tolist()
    dress(axes, "", places, "mean absolute error", "linear")
    axes.set_yticks(range(len(ordered)), [", ".join(kind) for kind in ordered])
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    return drawing


def panel(sweep: Sweep, styles: Styles) -> Figure:
    """A figure of its own for `lines`."""
    drawing = Figure(figsize=PANEL, layout="constrained")
    lines(drawing.subplots(), sweep, styles)
    return drawing


def lines(axes: Axes, sweep: Sweep, styles: Styles) -> None:
    """MAE along one axis; what does not depend on it is a thin line across, marked once."""
    for line in sweep.lines():
        _draw(axes, line, *styles.of(line.method))
    scale = "log" if sweep.axis in LOGARITHMIC else "linear"
    dress(axes, _leaves(sweep), sweep.places, AXES[sweep.axis], scale)
    if ends := sweep.limits:
        axes.set_ylim(*ends)


def _leaves(sweep: Sweep) -> str:
    """A title where a line leaves the panel."""
    return "" if sweep.beyond is None else f"cut; the largest is {sweep.beyond:.2f}"


def _draw(axes: Axes, line: SweepLine, hue: int, marker: int) -> None:
    place, mean, deviation = zip(*line.points, strict=True) if line.points else ((), (), ())
    axes.errorbar(
        place,
        mean,
        None if line.even else deviation,
        color=PALETTE[hue],
        marker=MARKERS[marker],
        markevery=slice(0, 1) if line.even else None,
        linestyle=STROKES[line.mode],
        markersize=4,
        linewidth=0.9 if line.even else 1.4,
        elinewidth=0.8,
    )


def surface(shown: Surface) -> Figure:
    """A figure of its own for `tiles`."""
    drawing = Figure(figsize=PANEL, layout="constrained")
    tiles(drawing.subplots(), shown)
    return drawing


def tiles(axes: Axes, shown: Surface) -> None:
    """MAE at every pair of epsilons: the deeper the colour, the larger; with figures."""
    cells = shown.entries()
    low, high = min(cells.values()), max(cells.values())
    for (x, y), value in cells.items():
        depth = FAINT + (DEEP - FAINT) * (value - low) / ((high - low) or 1)
        axes.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, color=PALETTE[0], alpha=depth, linewidth=0)
        )
        axes.text(x, y, f"{value:.3f}", color=INK, fontsize=8, ha="center", va="center")
    dress(axes, shown.method, range(len(shown.replacements)), "epsilon of replacements", "linear")
    axes.set_xticks(range(len(shown.replacements)), [f"{e:g}" for e in shown.replacements])
    axes.set_yticks(range(len(shown.neighbours)), [f"{e:g}" for e in shown.neighbours])
    axes.set_xlim(-0.5, len(shown.replacements) - 0.5)
    axes.set_ylim(-0.5, len(shown.neighbours) - 0.5)
    axes.set_ylabel("epsilon of neighbours", color=INK, fontsize=9)
    axes.grid(visible=False)


def _against(found: Sequence[Sweep], styles: Styles) -> ReportFigure:
    panels = [inline(panel(s, styles), f"against-{s.axis}", s.describe()) for s in found]
    stays = dict.fromkeys(word for sweep in found for word in sweep.at_words)
    kept = f" What is not on the axis stays at {', '.join(stays)}." if stays else ""
    names = [marker(name, *styles.of(name)) for name in styles.names]
    modes = dict.fromkeys(row.mode for row in found[0].rows)
    strokes = [LegendEntry(WORDS[mode], stroke=LEGEND[mode]) for mode in modes]
    caption = f". Thin lines do not depend on the axis.{kept}"
    return ReportFigure(MAE, caption, [*names, *strokes], panels)


def _beside(rows: Sequence[TrialRow]) -> ReportFigure:
    seeds = len({row.seed for row in rows})
    spread = f"bars are a deviation over {seeds} draws" if seeds > 1 else "one draw, no spread"
    said = ", ".join(f"{row.method} {row.mae:.3f}" for row in rows)
    picture = inline(beside(rows), "beside", f"Mean absolute error of every system: {said}.")
    return ReportFigure(MAE, f"; {spread}.", [], [picture])


def _surfaces(grids: Sequence[Surface]) -> ReportFigure:
    panels = [inline(surface(g), f"surface-{n}", g.describe()) for n, g in enumerate(grids)]
    caption = ". One budget is spent on what items are replaced by, the other on neighbours."
    return ReportFigure("mean absolute error at two epsilons", caption, [], panels)
