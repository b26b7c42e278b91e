"""Figures of cross-domain trials: a panel an axis, surfaces of two epsilons, systems in rows."""

# matplotlib's own annotations leave keyword arguments and colours half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from collections.abc import Sequence
from statistics import pstdev

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tacit.evaluation.comparison.figures import INK, MARKERS, PALETTE, PANEL, dress
from tacit.evaluation.crossdomain.rows import FLOORS, TrialRow, mean, measured
from tacit.evaluation.crossdomain.sweeps import Surface, Sweep, SweepLine

STROKES = {"none": "-", "strict": "--", "faithful": "-."}
FLOOR_STROKE = (0, (5, 4))
MEASURED = {"mae": "mean absolute error", "ndcg_at_20": "NDCG of lists of 20"}
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


def beside(rows: Sequence[TrialRow], metric: str = "mae") -> Figure:
    """A metric of every system and claim, the best on top; a bar is a deviation over seeds, and a
    dashed line is what a floor reaches."""
    kinds = ordered(rows, metric)
    styles, drawing = Styles(rows), Figure(figsize=(6.4, 0.8 + 0.26 * len(kinds)))
    drawing.set_layout_engine("constrained")
    axes = drawing.subplots()
    for place, (kind, mine) in enumerate(kinds.items()):
        hue, marker = styles.of(kind[0])
        axes.errorbar(
            mean(mine, metric), place, xerr=pstdev(measured(mine, metric)), color=PALETTE[hue],
            marker=MARKERS[marker], markersize=5, elinewidth=0.8,
        )  # fmt: skip
        if mine[0].floor:
            axes.axvline(mean(mine, metric), color=INK, alpha=0.6, linewidth=0.9, dashes=(5, 4))
    low, high = axes.get_xlim()
    places = [place for place in axes.get_xticks().tolist() if low <= place <= high]
    dress(axes, "", places, MEASURED[metric], "linear")
    axes.set_yticks(range(len(kinds)), [", ".join(kind) for kind in kinds])
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    return drawing


def ordered(rows: Sequence[TrialRow], metric: str) -> dict[tuple[str, str], list[TrialRow]]:
    """The rows of every system and claim that have the metric, the best last."""
    known = [row for row in rows if measured([row], metric)]
    kinds = dict.fromkeys((row.method, row.claim) for row in known)
    groups = {kind: [row for row in known if (row.method, row.claim) == kind] for kind in kinds}
    upwards = sorted(groups, key=lambda kind: mean(groups[kind], metric), reverse=metric == "mae")
    return {kind: groups[kind] for kind in upwards}


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
    dress(axes, _leaves(sweep), sweep.places, sweep.name, scale)
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
        linestyle=stroke(line.method, line.mode),
        markersize=4,
        linewidth=0.9 if line.even else 1.4,
        elinewidth=0.8,
    )


def stroke(method: str, mode: str) -> str | tuple[int, tuple[int, int]]:
    """How a line is dashed: by its mode, but for a floor."""
    return FLOOR_STROKE if (method, mode) in FLOORS else STROKES[mode]


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
