"""Data of cross-domain figures, computed from rows: means over seeds, and text alternatives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev

from tacit.evaluation.crossdomain.rows import TrialRow, mean, measured, rated
from tacit.evaluation.html.axis import beyond, limits
from tacit.evaluation.units import epsilon_per

AXES = {
    "k": "neighbours k",
    "overlap": "share of users that link the domains",
    "keep": "target ratings that a test user keeps",
    "decay": "decay of older ratings",
    "epsilon": "epsilon",
}
PUBLISHED_K = 50
Point = tuple[float, float, float]


@dataclass(frozen=True)
class SweepLine:
    """A system in one panel: (x, mean, deviation over seeds), ascending. `even`: independent of the
    axis."""

    method: str
    mode: str
    points: tuple[Point, ...]
    even: bool = False


@dataclass(frozen=True)
class Sweep:
    """MAE along one axis of `AXES`. The other axes are fixed at `at`.

    Overlap is fixed at the largest value, kept ratings and decay at the smallest, k at the one
    nearest to 50, and each system's claim at the one nearest to epsilon 1.
    """

    axis: str
    rows: Sequence[TrialRow]

    @cached_property
    def places(self) -> list[float]:
        """Values on the axis, ascending."""
        values = {getattr(row, self.axis) for row in self.rows}
        return sorted(float(value) for value in values if value is not None)

    @property
    def name(self) -> str:
        """Label of the axis, with the unit of epsilon."""
        return epsilon_per(self.rows) if self.axis == "epsilon" else AXES[self.axis]

    @property
    def varies(self) -> bool:
        """Whether there are at least two values."""
        return len(self.places) > 1

    @cached_property
    def at(self) -> dict[str, float]:
        """Fixed values of the other axes that vary, without claims."""
        overlap, keep, k, decay = (
            Sweep(axis, self.rows).places for axis in ("overlap", "keep", "k", "decay")
        )
        chosen = {
            "overlap": overlap[-1:],
            "keep": keep[:1],
            "k": sorted(k, key=_off(PUBLISHED_K)),
            "decay": decay[:1],
        }
        varied = {axis: places for axis, places in chosen.items() if Sweep(axis, self.rows).varies}
        return {axis: places[0] for axis, places in varied.items() if axis != self.axis}

    @property
    def at_words(self) -> list[str]:
        """Fixed values of the other axes, for a caption."""
        words = [f"{axis} {value:g}" for axis, value in self.at.items()]
        claims = self.axis != "epsilon" and Sweep("epsilon", self.rows).varies
        return words + ["the epsilon nearest 1"] * claims

    def here(self) -> list[TrialRow]:
        """Return the rows at the fixed values, at every epsilon."""
        stay = self.at.items()
        return [r for r in self.rows if all(getattr(r, a) in (None, value) for a, value in stay)]

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """Limits of the MAE axis. None without figures."""
        spreads = [spread for line in self.lines() for _, _, spread in line.points]
        return limits(self._means, lower_is_better=True, spreads=spreads)

    @property
    def beyond(self) -> float | None:
        """The mean furthest outside that axis. None if all are inside."""
        return beyond(self._means, self.limits)

    @cached_property
    def _means(self) -> list[float]:
        return [mean for line in self.lines() for _, mean, _ in line.points]

    def lines(self) -> list[SweepLine]:
        """Return the line of every system, in order of appearance."""
        kinds: dict[tuple[str, str], list[TrialRow]] = {}
        for row in self.here():
            kinds.setdefault((row.method, row.mode), []).append(row)
        any_claim = self.axis == "epsilon"
        one = {kind: rows if any_claim else _one_claim(rows) for kind, rows in kinds.items()}
        return [self._line(*kind, rows) for kind, rows in one.items()]

    def _line(self, method: str, mode: str, rows: Sequence[TrialRow]) -> SweepLine:
        even = all(getattr(row, self.axis) is None for row in rows)
        places = self.places if even else Sweep(self.axis, rows).places
        at = {p: [r for r in rows if getattr(r, self.axis) in (None, p)] for p in places}
        values = {p: measured(here) for p, here in at.items()}
        points = tuple((x, fmean(maes), pstdev(maes)) for x, maes in values.items())
        return SweepLine(method, mode, points, even)

    def describe(self) -> str:
        """Return the text alternative of the panel."""
        sentences = [f"Mean absolute error against {self.name}."]
        for line in self.lines():
            if line.even and line.points:
                sentences.append(f"{line.method}, {line.mode}: {line.points[0][1]:.3f}.")
            else:
                values = ", ".join(f"{mean:.3f} at {at:g}" for at, mean, _ in line.points)
                sentences.append(f"{line.method}, {line.mode}: {values}.")
        return " ".join(sentences)


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
        pairs = len(self.replacements) * len(self.neighbours)
        return (
            min(len(self.replacements), len(self.neighbours)) > 1 and len(self.entries()) == pairs
        )

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
            f"{self.method}: mean absolute error at epsilon of replacements and of neighbours: "
            f"{values}."
        )


def sweeps(rows: Sequence[TrialRow]) -> list[Sweep]:
    """Return a sweep along every axis that varies. Systems with a surface are not in the sweep of
    epsilon. Baselines of lists have no rating error and are excluded.
    """
    rows = rated(rows)
    parted = {surface.method for surface in surfaces(rows)}
    single = [row for row in rows if row.method not in parted]
    axes = (Sweep(axis, single if axis == "epsilon" else rows) for axis in AXES)
    return [sweep for sweep in axes if sweep.varies]


def surfaces(rows: Sequence[TrialRow]) -> list[Surface]:
    """Return a surface per system that was run at pairs of epsilons, at the fixed values of the
    other axes."""
    here = Sweep("epsilon", rows).here()
    methods = dict.fromkeys(row.method for row in here if row.neighbour_epsilon is not None)
    grids = (Surface(name, [row for row in here if row.method == name]) for name in methods)
    return [surface for surface in grids if surface.complete]


def _one_claim(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the rows of the claim nearest to epsilon 1, ties by the smaller replacement part."""
    claims = {(row.epsilon or 0.0, row.replacement_epsilon or 0.0) for row in rows}
    chosen = min(claims, key=lambda claim: (*_off(1)(claim[0]), claim[1]))
    return [r for r in rows if (r.epsilon or 0.0, r.replacement_epsilon or 0.0) == chosen]


def _off(wanted: float) -> Callable[[float], tuple[float, float]]:
    """Return a sort key: distance from `wanted`, ties by the smaller value."""
    return lambda value: (abs(value - wanted), value)
