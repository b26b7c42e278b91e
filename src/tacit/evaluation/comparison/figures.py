"""Figures of the result rows: accuracy against epsilon, one panel a model, one colour a channel."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

import io
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tacit.evaluation.comparison.chart import TITLES, AccuracyLine, Chart
from tacit.evaluation.tradeoff import Tradeoff, strength

# Okabe and Ito's palette, told apart by every kind of colour vision; yellow is too pale for a line.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STROKES = {"provider": "-", "device": "--", "curator": "-."}
# Ink that stands for "the colour of the text around": a page replaces it, so figures follow
# its light or dark colours.
INK = "#010203"
PANEL = (3.2, 2.7)


def panel(chart: Chart, model: str) -> Figure:
    """The metric against epsilon (log scale), for one model: a colour a channel.

    Solid is the provider, dashed the device, dotted the provider without privacy; a line is the
    mean over splits, its bars one standard deviation. All panels of a chart have the same axes.
    """
    drawing = Figure(figsize=PANEL, layout="constrained")
    _paint(drawing.subplots(), chart, model)
    return drawing


def panels(chart: Chart) -> Figure:
    """All panels of a chart in one figure, with a legend of the channels."""
    across = min(3, len(chart.models))
    down = -(-len(chart.models) // across)
    drawing = Figure(figsize=(PANEL[0] * across, PANEL[1] * down + 0.4), layout="constrained")
    places = drawing.subplots(down, across, squeeze=False).flat
    for axes, model in zip(places, chart.models, strict=False):
        _paint(axes, chart, model)
    for axes in list(places)[len(chart.models) :]:
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
    if (floor := chart.floor(model)) is not None:
        axes.axhline(floor, color=INK, linestyle=":", linewidth=1)
    if chart.mean is not None:
        axes.axhline(chart.mean, color=INK, alpha=0.5, linewidth=0.8)
    dress(axes, model, chart.epsilons)
    if limits := chart.limits:
        axes.set_ylim(*limits)


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


def dress(
    axes: Axes, title: str, places: Sequence[float], label: str = "epsilon", scale: str = "log"
) -> None:
    """The look of every panel: ticks at the `places` of x alone, faint lines across, no frame."""
    axes.set_xscale(scale)
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    axes.set_title(title, color=INK, fontsize=10, loc="left")
    axes.set_xlabel(label, color=INK, fontsize=9)
    axes.set_facecolor("none")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    axes.spines[:].set_visible(False)


def tradeoff(found: Tradeoff, most_loss: float, least_strength: float) -> Figure:
    """Strength and loss against epsilon, the crossing, and the acceptable interval, shaded."""
    drawing = Figure(figsize=(5.2, 3.2), layout="constrained")
    axes = drawing.subplots()
    epsilons = [epsilon for epsilon, _ in found.points]
    axes.plot(epsilons, [strength(e) for e in epsilons], "o-", color=PALETTE[0], label="strength P")
    losses = [loss for _, loss in found.points]
    axes.plot(epsilons, losses, "s-", color=PALETTE[1], label="loss of accuracy A")
    axes.plot(epsilons, [1 - strength(e) for e in epsilons], ":", color=INK, label="1 - P")
    if interval := found.interval(most_loss, least_strength):
        axes.axvspan(*interval, color=PALETTE[2], alpha=0.15, label="recommended")
    if crossing := found.crossing:
        axes.axvline(crossing, color=INK, linewidth=0.8)
    dress(axes, "", epsilons, f"epsilon per {found.unit}")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    return drawing


def svg(drawing: Figure) -> str:
    """The figure as SVG text: letters stay letters, and the same rows give the same bytes."""
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tacit"}):
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()
