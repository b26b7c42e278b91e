"""The panels of X-Map's figures: a column a direction, a row an axis, then decay and surfaces."""

# matplotlib's own annotations leave keyword arguments and arrays of panels half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tacit.reporting.panel import PALETTE
from tacit.reporting.plot import INK, MARKERS, STROKES, paint
from tacit.results.crossdomain.charts import Styles, Sweep, stroke
from tacit.results.crossdomain.rows import TrialRow
from tacit.results.crossdomain.surfaces import Surface
from tacit_studies.x_map.trials import Way

AXES = ("k", "overlap", "keep")
SURFACES = ("x-map (item), claim fails", "x-map (user), claim fails")


def drawn(ways: Sequence[Way], decays: Sequence[float]) -> Figure:
    """All panels, and one legend."""
    page = Figure(figsize=(4.2 * len(ways), 19.8), layout="constrained")
    panels = page.subplots(len(AXES) + 1 + len(SURFACES), len(ways), squeeze=False)
    styles = Styles(ways[0].shown)
    for column, way in enumerate(ways):
        for row, axis in enumerate(AXES):
            against(panels[row][column], Sweep(axis, way.shown), styles)
        alike(list(panels[: len(AXES), column]))
        against(panels[len(AXES)][column], Sweep("decay", way.temporal), styles)
        spaced(panels[len(AXES)][column], (0, *decays))
        for row, method in enumerate(SURFACES, len(AXES) + 1):
            mine = [pair for pair in way.pairs if pair.method == method]
            Surface(method, mine).paint(panels[row][column])
        panels[0][column].set_title(way.title, fontsize=11, pad=18, color=INK)
    for row in panels[: len(AXES) + 1]:
        row[0].set_ylabel("mean absolute error", fontsize=9, color=INK)
    page.legend(
        handles=[entry(row, styles) for row in firsts(ways[0].shown)],
        loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=INK,
    )  # fmt: skip
    return page


def against(axes: Axes, sweep: Sweep, styles: Styles) -> None:
    """Draw the error along one axis, if it was measured."""
    if (panel := sweep.panel(styles)) is not None:
        paint(axes, panel)


def spaced(axes: Axes, places: Sequence[float]) -> None:
    """Decays as far apart as their ratios, but for 0, which has none."""
    axes.set_xscale("symlog", linthresh=min(filter(None, places)), linscale=0.5)
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    axes.autoscale(axis="x")


def alike(panels: Sequence[Axes]) -> None:
    """One range for all panels of a column."""
    ends = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def firsts(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """One row of each method and mode."""
    return list({(row.method, row.mode): row for row in reversed(rows)}.values())[::-1]


def entry(row: TrialRow, styles: Styles) -> Line2D:
    """Return a line of the legend: the system and its guarantee."""
    hue, marker = styles.of(row.method)
    promise = f", {row.claim} per person" if row.mode == "strict" else ""
    return Line2D(
        [], [], color=PALETTE[hue], marker=MARKERS[marker], markersize=4,
        linestyle=STROKES[stroke(row.method, row.mode)], label=f"{row.method}{promise}",
    )  # fmt: skip
