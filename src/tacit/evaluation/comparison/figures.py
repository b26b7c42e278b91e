"""Figures of result rows: accuracy against epsilon, a panel per model, a colour per channel."""

# matplotlib's type annotations of keyword arguments and colours are incomplete.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

import io
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tacit.evaluation.comparison.chart import TITLES, AccuracyLine, Chart
from tacit.evaluation.html.axis import apart

# Okabe and Ito's palette, safe for all types of colour vision, without yellow, too pale for lines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STROKES = {"provider": "-", "device": "--", "curator": "-."}
# Placeholder for the text colour: a page replaces it, so that figures follow its light or dark
# theme.
INK = "#010203"
PANEL = (3.2, 2.7)


def panel(chart: Chart, model: str) -> Figure:
    """Plot the metric against epsilon (log scale) for one model, a colour per channel.

    Solid lines: provider. Dashed: device. Dotted: provider without privacy. Thin dashed: baseline.
    Lines are means over splits, bars one standard deviation. All panels of a chart have the same
    axes.
    """
    drawing = Figure(figsize=PANEL, layout="constrained")
    _paint(drawing.subplots(), chart, model)
    return drawing


def panels(chart: Chart) -> Figure:
    """Plot all panels of a chart in one figure, with a legend of the channels."""
    across = min(3, len(chart.drawn))
    down = -(-len(chart.drawn) // across)
    drawing = Figure(figsize=(PANEL[0] * across, PANEL[1] * down + 0.4), layout="constrained")
    places = drawing.subplots(down, across, squeeze=False).flat
    for axes, model in zip(places, chart.drawn, strict=False):
        _paint(axes, chart, model)
    for axes in list(places)[len(chart.drawn) :]:
        axes.set_visible(False)
    marks = [
        Line2D([], [], color=PALETTE[chart.style(name) % len(PALETTE)], label=name)
        for name in chart.shown
    ]
    if marks:
        drawing.legend(
            handles=marks,
            loc="outside lower center",
            ncols=len(marks),
            frameon=False,
            labelcolor=INK,
        )
    drawing.suptitle(TITLES[chart.metric], fontsize=10, color=INK)
    return drawing


def _paint(axes: Axes, chart: Chart, model: str) -> None:
    for line in chart.lines(model):
        _draw(axes, line, chart.style(line.channel))
    if (free := chart.floor(model)) is not None:
        axes.axhline(free, color=INK, linestyle=":", linewidth=1)
    dress(axes, model, chart.epsilons, chart.axis)
    if limits := chart.limits:
        axes.set_ylim(*limits)
    for name, value in chart.floors.items():
        floor(axes, name, value)


def floor(axes: Axes, name: str, value: float) -> None:
    """Draw a baseline as a dashed horizontal line with its name, if it is within the axis."""
    low, high = axes.get_ylim()
    if low <= value <= high:
        axes.axhline(value, color=INK, alpha=0.6, linewidth=0.9, dashes=(5, 4))
        axes.text(
            1, value, name, transform=axes.get_yaxis_transform(), color=INK, alpha=0.8,
            fontsize=8, ha="right", va="bottom",
        )  # fmt: skip


def _draw(axes: Axes, line: AccuracyLine, style: int) -> None:
    epsilon, mean, deviation = zip(*line.points, strict=True) if line.points else ((), (), ())
    axes.errorbar(
        epsilon,
        mean,
        deviation,
        color=PALETTE[style % len(PALETTE)],
        marker=MARKERS[style % len(MARKERS)],
        linestyle=STROKES[line.where],
        fillstyle="full" if line.where == "provider" else "none",
        markersize=4,
        linewidth=1.4,
        elinewidth=0.8,
    )


def dress(axes: Axes, title: str, places: Sequence[float], label: str, scale: str = "log") -> None:
    """Style a panel: ticks at the x values `places` only, faint horizontal lines, no frame."""
    axes.set_xscale(scale)
    named = apart(places, logarithmic=scale == "log")
    axes.set_xticks(named, [f"{tick:g}" for tick in named])
    axes.minorticks_off()
    axes.set_title(title, color=INK, fontsize=10, loc="left")
    axes.set_xlabel(label, color=INK, fontsize=9)
    axes.set_facecolor("none")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    axes.spines[:].set_visible(False)


def svg(drawing: Figure) -> str:
    """Return the figure as SVG, with text as text elements, and with reproducible bytes."""
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tacit"}):
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()
