"""Error of systems with a two-part guarantee, at every pair of epsilons."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.reporting.page import FigurePanel, ReportFigure
from tacit.reporting.plot import SIZE, heat_map, inline
from tacit.results.crossdomain.rows import TrialRow, mean


@dataclass(frozen=True)
class Surface:
    """MAE of one system with a two-part guarantee, at every pair of epsilons."""

    method: str
    rows: Sequence[TrialRow]

    @cached_property
    def replacements(self) -> list[float]:
        """Epsilons of replacements, ascending."""
        return sorted({r.replacement_epsilon for r in self.rows if r.replacement_epsilon})

    @cached_property
    def neighbours(self) -> list[float]:
        """Epsilons of neighbours, ascending."""
        return sorted({r.neighbour_epsilon for r in self.rows if r.neighbour_epsilon})

    @property
    def complete(self) -> bool:
        """Whether both parts vary, and every pair was run."""
        sizes = len(self.replacements), len(self.neighbours)
        return min(sizes) > 1 and len(self.entries()) == sizes[0] * sizes[1]

    def entries(self) -> dict[tuple[int, int], float]:
        """Return the mean of every pair that was run, by index into `replacements` and
        `neighbours`."""
        groups: dict[tuple[int, int], list[TrialRow]] = {}
        for row in self.rows:
            if row.replacement_epsilon and row.neighbour_epsilon:
                x = self.replacements.index(row.replacement_epsilon)
                y = self.neighbours.index(row.neighbour_epsilon)
                groups.setdefault((x, y), []).append(row)
        return {pair: mean(rows) for pair, rows in sorted(groups.items())}

    def describe(self) -> str:
        """Return the text alternative of the surface."""
        values = "; ".join(
            f"{mean:.3f} at {self.replacements[x]:g} and {self.neighbours[y]:g}"
            for (x, y), mean in self.entries().items()
        )
        return (
            f"{self.method}: mean absolute error by the epsilons of replacement and neighbour "
            f"selection: {values}."
        )

    def paint(self, axes: Axes) -> None:
        """Draw the surface as a heat map with figures."""
        x = ("epsilon of replacements", self.replacements)
        heat_map(axes, self.entries(), self.method, x, ("epsilon of neighbours", self.neighbours))

    def figure(self) -> Figure:
        """Return the heat map as a standalone figure."""
        drawing = Figure(figsize=SIZE, layout="constrained")
        self.paint(drawing.subplots())  # pyright: ignore[reportUnknownMemberType]
        return drawing


def surfaces(here: Sequence[TrialRow]) -> list[Surface]:
    """Return a surface per system that was run at pairs of epsilons. `here`: rows at the fixed
    values of the other axes."""
    methods = dict.fromkeys(row.method for row in here if row.neighbour_epsilon is not None)
    grids = (Surface(name, [row for row in here if row.method == name]) for name in methods)
    return [surface for surface in grids if surface.complete]


def surface_figure(grids: Sequence[Surface], unit: str) -> ReportFigure:
    """Return the figure of the surfaces. `unit`: of epsilon."""
    panels = [
        FigurePanel(inline(grid.figure(), f"surface-{number}", grid.describe()))
        for number, grid in enumerate(grids)
    ]
    caption = ". One epsilon is for item replacement, the other for neighbour selection."
    return ReportFigure(f"mean absolute error at two epsilons per {unit}", caption, [], panels)
