"""Figures of the result rows: accuracy against epsilon, one panel a model, one colour a channel."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

import io
import math
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tacit.evaluation.chart import TITLES, Chart
from tacit.evaluation.results import Row

# Okabe and Ito's palette, told apart by every kind of colour vision; yellow is too pale for a line.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STROKES = {"provider": "-", "device": "--", "curator": "-."}
# Ink that stands for "the colour of the text around": a page replaces it, so figures follow
# its light or dark colours.
INK = "#010203"
PANEL = (3.6, 3.1)
ALONE = 5.4


def figure(rows: Sequence[Row], metric: str = "rmse") -> Figure:
    """The metric against epsilon (log scale): a panel a model, a colour a channel.

    Solid is the provider, dashed the device, dotted the provider without privacy; a line is the
    mean over splits, its bars one standard deviation.
    """
    chart = Chart(rows, metric)
    down, across = _shape(len(chart.models))
    wide = PANEL[0] if across > 1 else ALONE
    drawing = Figure(figsize=(wide * across, PANEL[1] * down + 0.6), layout="constrained")
    panels = list(drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False).flat)
    styles = {name: k for k, name in enumerate([*chart.channels, "curator"])}
    for panel, model in zip(panels, chart.models, strict=False):
        _panel(panel, chart, model, styles)
    for panel in panels[len(chart.models) :]:
        panel.set_visible(False)
    drawing.supylabel(TITLES[metric], color=INK, fontsize=9)
    drawing.supxlabel("epsilon, nats (log scale): left is more private", color=INK, fontsize=9)
    drawing.legend(
        handles=_legend(chart, styles),
        loc="outside upper center",
        ncols=across + 1,
        frameon=False,
        fontsize=8,
        labelcolor=INK,
    )
    return drawing


def _shape(panels: int) -> tuple[int, int]:
    """Rows and columns of panels: three abreast, but four in a square."""
    across = 2 if panels == 4 else min(3, max(1, panels))
    return math.ceil(panels / across) or 1, across


def _panel(panel: Axes, chart: Chart, model: str, styles: Mapping[str, int]) -> None:
    for line in chart.lines(model):
        epsilon, mean, deviation = zip(*line.points, strict=True) if line.points else ((), (), ())
        style = styles[line.channel]
        panel.errorbar(
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
    if (floor := chart.floor(model)) is not None:
        panel.axhline(floor, color=INK, linestyle=":", linewidth=1)
    _dress(panel, model, sorted({row.epsilon for row in chart.rows if row.epsilon}))


def _dress(panel: Axes, title: str, epsilons: Sequence[float]) -> None:
    panel.set_xscale("log")
    panel.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    panel.minorticks_off()
    panel.set_title(title, color=INK, fontsize=10, loc="left")
    panel.set_facecolor("none")
    panel.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    panel.tick_params(colors=INK, labelsize=8, length=0, labelbottom=True)
    panel.spines[:].set_visible(False)


def _legend(chart: Chart, styles: Mapping[str, int]) -> list[Line2D]:
    shown = [*chart.channels, *(["curator"] if any(r.channel is None for r in chart.rows) else [])]
    colours = [
        Line2D([], [], color=PALETTE[styles[name] % len(PALETTE)],
               marker=MARKERS[styles[name] % len(MARKERS)], markersize=4, label=name)
        for name in shown
    ]  # fmt: skip
    places = dict.fromkeys(row.where for row in chart.rows)
    strokes = [Line2D([], [], color=INK, linestyle=STROKES[name], label=name) for name in places]
    return [*colours, *strokes, Line2D([], [], color=INK, linestyle=":", label="no privacy")]


def svg(drawing: Figure) -> str:
    """The figure as SVG text: letters stay letters, and the same rows give the same bytes."""
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tacit"}):
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()
