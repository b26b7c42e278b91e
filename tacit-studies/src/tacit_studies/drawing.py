"""The look of a study's figure."""

# matplotlib's own annotations leave keyword arguments and arrays of panels half typed.
# pyright: reportUnknownMemberType=false, reportArgumentType=false

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.reporting.plot import INK

PANEL = (3.4, 2.9)
"""Inches of a panel."""


def panels(down: int, across: int) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels row by row. Panels of a row share the y axis."""
    page = Figure(figsize=(PANEL[0] * across, PANEL[1] * down), layout="constrained")
    return page, list(page.subplots(down, across, sharey="row", squeeze=False).flat)


def legend(page: Figure, axes: Axes, columns: int) -> None:
    """Add one legend below all panels, with the lines of one of them."""
    entries = axes.get_legend_handles_labels()
    page.legend(
        *entries, loc="outside lower center", ncols=columns, frameon=False, fontsize=8,
        labelcolor=INK,
    )  # fmt: skip
