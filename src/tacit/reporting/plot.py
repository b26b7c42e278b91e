"""Static figures by matplotlib, and their SVG."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

import io
import re
from collections.abc import Mapping, Sequence
from html import escape

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from tacit.reporting.panel import PALETTE, LegendEntry, Line, Panel, separated

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = (0, (5, 4))
STROKES = {"solid": "-", "dashed": "--", "dotdashed": "-.", "dotted": ":", "baseline": DASHES}
# Placeholder for the text colour: a page replaces it, so that figures follow its light or dark
# theme.
INK = "#010203"
SIZE = (3.2, 2.7)
FAINT, DEEP = 0.06, 0.55  # opacity of the lowest and the highest value of a heat map


def draw(panel: Panel, size: tuple[float, float] | None = None) -> Figure:
    """Return a panel as a figure. `size`: in inches, by default that of a page's panel."""
    by_row = (6.4, 0.8 + 0.26 * len(panel.rows)) if panel.rows else SIZE
    drawing = Figure(figsize=size or by_row, layout="constrained")
    paint(drawing.subplots(), panel)
    return drawing


def draw_all(panels: Sequence[Panel], title: str, legend: Sequence[LegendEntry]) -> Figure:
    """Return panels side by side, at most three in a row, with a title and a legend."""
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    drawing = Figure(figsize=(SIZE[0] * across, SIZE[1] * down + 0.4), layout="constrained")
    places = drawing.subplots(down, across, squeeze=False).flat
    for axes, panel in zip(places, panels, strict=False):
        paint(axes, panel)
    for axes in list(places)[len(panels) :]:
        axes.set_visible(False)
    marks = [Line2D([], [], color=PALETTE[each.hue], label=each.words) for each in legend]
    if marks:
        drawing.legend(
            handles=marks, loc="outside lower center", ncols=len(marks), frameon=False,
            labelcolor=INK,
        )  # fmt: skip
    drawing.suptitle(title, fontsize=10, color=INK)
    return drawing


def paint(axes: Axes, panel: Panel) -> None:
    """Draw a panel: lines with error bars, baselines, and axes with the ticks of the panel."""
    for line in panel.lines:
        _line(axes, line, by_row=bool(panel.rows))
    if panel.rows:
        _rows(axes, panel)
        return
    dress(axes, panel.title, [at for at, _ in panel.ticks], panel.x, log=panel.logarithmic)
    axes.set_ylim(*panel.ends)
    for baseline in panel.baselines:
        if panel.ends[0] <= baseline.value <= panel.ends[1]:
            _baseline(axes, baseline.name, baseline.value)
    if panel.band:
        start, end, name = panel.band
        margin = 1.03 if start == end else 1.0
        axes.axvspan(start / margin, end * margin, color=PALETTE[2], alpha=0.15, label=name)
    if panel.rule:
        axes.axvline(panel.rule[0], color=INK, linewidth=0.8, label=panel.rule[1])


def _line(axes: Axes, line: Line, *, by_row: bool) -> None:
    xs, ys, spreads, _ = zip(*line.points, strict=True) if line.points else ((), (), (), ())
    if line.stroke in ("dotted", "baseline") and not line.even:
        colour = INK if line.stroke == "dotted" else PALETTE[line.hue % len(PALETTE)]
        axes.plot(xs, ys, color=colour, linestyle=STROKES[line.stroke], linewidth=0.9,
                  label=line.name)  # fmt: skip
        return
    bars = None if line.even or not any(spreads) else spreads
    axes.errorbar(
        xs,
        ys,
        **{"xerr" if by_row else "yerr": bars},
        color=PALETTE[line.hue % len(PALETTE)],
        marker=MARKERS[line.shape % len(MARKERS)],
        markevery=slice(0, 1) if line.even else None,
        linestyle=STROKES[line.stroke],
        fillstyle="full" if line.stroke == "solid" else "none",
        markersize=4,
        linewidth=0.9 if line.even else 1.4,
        elinewidth=0.8,
        label=line.name,
    )


def _rows(axes: Axes, panel: Panel) -> None:
    """Style a panel with one row per system."""
    axes.set_xlim(*panel.ends)
    for baseline in panel.baselines:
        axes.axvline(baseline.value, color=INK, alpha=0.6, linewidth=0.9, dashes=(5, 4))
    low, high = panel.ends
    places = [at for at in axes.get_xticks().tolist() if low <= at <= high]
    dress(axes, panel.title, places, panel.x, log=False)
    axes.set_yticks(range(len(panel.rows)), list(panel.rows))
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)


def _baseline(axes: Axes, name: str, value: float) -> None:
    axes.axhline(value, color=INK, alpha=0.6, linewidth=0.9, dashes=(5, 4))
    axes.text(
        1, value, name, transform=axes.get_yaxis_transform(), color=INK, alpha=0.8,
        fontsize=8, ha="right", va="bottom",
    )  # fmt: skip


def dress(axes: Axes, title: str, places: Sequence[float], label: str, *, log: bool = True) -> None:
    """Style a panel: ticks at the x values `places` only, faint horizontal lines, no frame."""
    axes.set_xscale("log" if log else "linear")
    named = separated(places, logarithmic=log)
    axes.set_xticks(named, [f"{tick:g}" for tick in named])
    axes.minorticks_off()
    axes.set_title(title, color=INK, fontsize=10, loc="left")
    axes.set_xlabel(label, color=INK, fontsize=9)
    axes.set_facecolor("none")
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    axes.spines[:].set_visible(False)


def heat_map(
    axes: Axes,
    cells: Mapping[tuple[int, int], float],
    title: str,
    x: tuple[str, Sequence[float]],
    y: tuple[str, Sequence[float]],
) -> None:
    """Draw figures by their positions as a heat map. `x` and `y`: label and values of an axis."""
    low, high = min(cells.values()), max(cells.values())
    for (column, row), value in cells.items():
        depth = FAINT + (DEEP - FAINT) * (value - low) / ((high - low) or 1)
        axes.add_patch(
            Rectangle((column - 0.5, row - 0.5), 1, 1, color=PALETTE[0], alpha=depth, linewidth=0)
        )
        axes.text(column, row, f"{value:.3f}", color=INK, fontsize=8, ha="center", va="center")
    dress(axes, title, range(len(x[1])), x[0], log=False)
    axes.set_xticks(range(len(x[1])), [f"{at:g}" for at in x[1]])
    axes.set_yticks(range(len(y[1])), [f"{at:g}" for at in y[1]])
    axes.set_xlim(-0.5, len(x[1]) - 0.5)
    axes.set_ylim(-0.5, len(y[1]) - 0.5)
    axes.set_ylabel(y[0], color=INK, fontsize=9)
    axes.grid(visible=False)


def svg(drawing: Figure) -> str:
    """Return the figure as SVG, with text as text elements, and with reproducible bytes."""
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tacit"}):
        drawing.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def inline(drawing: Figure, prefix: str, words: str) -> Markup:
    """Return a figure as inline SVG in the colours of the page, with `words` as text alternative.
    Ids get the `prefix`, because they must be unique in the page."""
    picture = svg(drawing)
    text = picture[picture.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for number, colour in enumerate(PALETTE):
        text = text.replace(colour.lower(), f"var(--hue-{number})")
    text = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{escape(prefix)}-", text)
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1))


def in_a_notebook(drawing: Figure, words: str) -> str:
    """Return a figure for a page without this style sheet. `words`: as for `inline`."""
    hues = ";".join(f"--hue-{number}:{colour}" for number, colour in enumerate(PALETTE))
    return f'<div style="{hues}">{inline(drawing, "notebook", words)}</div>'
