"""The curves of Xian et al.'s Figure 2: means over draws of noise, their table and their figure."""

# matplotlib's own annotations leave keyword arguments half typed.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.reporting.panel import PALETTE, limits
from tacit.reporting.plot import INK, dress
from tacit.reporting.table import NOTHING, Table
from tacit_studies.drawing import legend, panels
from tacit_studies.kept import Figures, by_draw, samples

OWN = "channel-mf"
BASES = ("global-mean", "bias", "svdpp", "svd", "als-svdpp", "als-svd")
COLOURS = {
    OWN: INK, "dp-bias": PALETTE[6], "dpss": PALETTE[0], "dpsaobj": PALETTE[1],
    "dpsaout": PALETTE[2], "psgd": PALETTE[3], "pals": PALETTE[4], "dpals": PALETTE[5],
    "dp-covariance": PALETTE[5],
}  # fmt: skip
TITLES = {"strict": "as it holds", "faithful": "as published"}
LABELS = {"strict": "epsilon per value", "faithful": "epsilon per value, as claimed"}

Key = tuple[str, str, str]
"""Method, mode and epsilon."""
Curves = dict[Key, tuple[float, float]]
"""Mean and deviation of the error over draws."""
Errors = Mapping[Key, Sequence[float]]
"""The error of every draw of noise."""


def errors_of(measured: Mapping[Any, Figures]) -> dict[Key, list[float]]:
    """Group the errors of cases that have a method, a mode and an epsilon by draws of noise."""
    groups = by_draw(measured, lambda case: (case.method, case.mode, case.epsilon))
    return {key: samples(draws, "rmse") for key, draws in groups.items()}


def means(errors: Errors) -> Curves:
    """Return the mean and the deviation of every curve's points."""
    return {key: (fmean(draws), pstdev(draws)) for key, draws in errors.items()}


def table(curves: Curves, epsilons: Sequence[str]) -> Table:
    """A line a method and mode: mean and deviation at every epsilon, or without privacy."""
    lines: list[tuple[str, ...]] = []
    for name, mode in dict.fromkeys((name, mode) for name, mode, _ in curves):
        known = (curves.get((name, mode, e)) for e in epsilons)
        cells = [f"{at[0]:.4f} ({at[1]:.4f})" if at else NOTHING for at in known]
        free = curves.get((name, mode, ""))
        lines.append((name, mode, *cells, f"{free[0]:.4f}" if free else NOTHING))
    heading = ("method", "mode", *epsilons, "no privacy")
    return Table("RMSE, mean and deviation; epsilon per value", heading, tuple(lines))


def drawn(curves: Curves, epsilons: Sequence[str]) -> Figure:
    """A panel a mode."""
    page, axes = panels(1, len(TITLES))
    ends = limits([at[0] for at in curves.values()], lower_is_better=True)
    for panel, mode in zip(axes, TITLES, strict=True):
        _lines(panel, curves, mode, epsilons)
        for base in BASES:
            if at := curves.get((base, "none", "")):
                panel.axhline(at[0], color=INK, alpha=0.5, lw=0.7)
        dress(panel, TITLES[mode], [float(e) for e in epsilons], LABELS[mode])
        if ends:
            panel.set_ylim(*ends)
    axes[0].set_ylabel("RMSE", color=INK, fontsize=9)
    legend(page, axes[1], 4)
    return page


def _lines(panel: Axes, curves: Curves, mode: str, epsilons: Sequence[str]) -> None:
    """The methods of the mode, and those that trust nobody."""
    kinds = (mode, "nobody trusted")
    for name, kind in dict.fromkeys((name, kind) for name, kind, _ in curves if kind in kinds):
        points = [
            (float(e), curves[name, kind, e][0]) for e in epsilons if (name, kind, e) in curves
        ]
        style = "--" if name == OWN else "-" if "++" in name else ":"
        colour = COLOURS.get(name.removesuffix("++"), INK)
        panel.plot(*zip(*points, strict=True), style, color=colour, marker="o", ms=3, label=name)
