"""Figures of cross-domain trials: a panel per axis, heat maps of two epsilons, systems in rows."""

# matplotlib's type annotations of keyword arguments and colours are incomplete.
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
BASELINE_STROKE = (0, (5, 4))
MEASURED = {"mae": "mean absolute error", "ndcg_at_20": "NDCG of lists of 20"}
LOGARITHMIC = ("k", "epsilon")
FAINT, DEEP = 0.06, 0.55  # opacity of the lowest and the highest value of a heat map


class Styles:
    """Colour and marker of every system, a distinct pair each."""

    def __init__(self, rows: Sequence[TrialRow]) -> None:
        self.names = list(dict.fromkeys(row.method for row in rows))

    def of(self, method: str) -> tuple[int, int]:
        """Return the numbers of a system's colour and marker."""
        index = self.names.index(method)
        return index % len(PALETTE), (index + index // len(PALETTE)) % len(MARKERS)


def beside(rows: Sequence[TrialRow], metric: str = "mae") -> Figure:
    """Plot a metric of every system and claim, the best on top. Bars are standard deviations over
    seeds, dashed lines are baselines."""
    kinds = ordered(rows, metric)
    styles, drawing = Styles(rows), Figure(figsize=(6.4, 0.8 + 0.26 * len(kinds)))
    drawing.set_layout_engine("constrained")
    axes = drawing.subplots()
    for row, (kind, mine) in enumerate(kinds.items()):
        hue, marker = styles.of(kind[0])
        axes.errorbar(
            mean(mine, metric), row, xerr=pstdev(measured(mine, metric)), color=PALETTE[hue],
            marker=MARKERS[marker], markersize=5, elinewidth=0.8,
        )  # fmt: skip
        if mine[0].floor:
            axes.axvline(mean(mine, metric), color=INK, alpha=0.6, linewidth=0.9, dashes=(5, 4))
    low, high = axes.get_xlim()
    places = [row for row in axes.get_xticks().tolist() if low <= row <= high]
    dress(axes, "", places, MEASURED[metric], "linear")
    axes.set_yticks(range(len(kinds)), [", ".join(kind) for kind in kinds])
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    return drawing


def ordered(rows: Sequence[TrialRow], metric: str) -> dict[tuple[str, str], list[TrialRow]]:
    """Group the rows that have the metric by system and claim, the best last."""
    known = [row for row in rows if measured([row], metric)]
    kinds = dict.fromkeys((row.method, row.claim) for row in known)
    groups = {kind: [row for row in known if (row.method, row.claim) == kind] for kind in kinds}
    upwards = sorted(groups, key=lambda kind: mean(groups[kind], metric), reverse=metric == "mae")
    return {kind: groups[kind] for kind in upwards}


def panel(sweep: Sweep, styles: Styles) -> Figure:
    """Return a standalone figure of `lines`."""
    drawing = Figure(figsize=PANEL, layout="constrained")
    lines(drawing.subplots(), sweep, styles)
    return drawing


def lines(axes: Axes, sweep: Sweep, styles: Styles) -> None:
    """Plot MAE along one axis. Systems that do not depend on it are thin lines with one marker."""
    for line in sweep.lines():
        _draw(axes, line, *styles.of(line.method))
    scale = "log" if sweep.axis in LOGARITHMIC else "linear"
    dress(axes, _leaves(sweep), sweep.places, sweep.name, scale)
    if ends := sweep.limits:
        axes.set_ylim(*ends)


def _leaves(sweep: Sweep) -> str:
    """Return the title of a panel with a line outside the axis."""
    return "" if sweep.beyond is None else f"cut; the largest is {sweep.beyond:.2f}"


def _draw(axes: Axes, line: SweepLine, hue: int, marker: int) -> None:
    xs, mean, deviation = zip(*line.points, strict=True) if line.points else ((), (), ())
    axes.errorbar(
        xs,
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
    """Return the dash pattern of a line, by its mode, or that of baselines."""
    return BASELINE_STROKE if (method, mode) in FLOORS else STROKES[mode]


def surface(shown: Surface) -> Figure:
    """Return a standalone figure of `tiles`."""
    drawing = Figure(figsize=PANEL, layout="constrained")
    tiles(drawing.subplots(), shown)
    return drawing


def tiles(axes: Axes, shown: Surface) -> None:
    """Plot MAE at every pair of epsilons as a heat map with figures."""
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
