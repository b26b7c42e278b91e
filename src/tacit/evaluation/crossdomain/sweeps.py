"""What figures of cross-domain trials show, worked out from rows: means over seeds, and words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev

from tacit.evaluation.crossdomain.rows import TrialRow, mean, measured, rated
from tacit.evaluation.html.axis import beyond, limits
from tacit.evaluation.units import epsilon_per

AXES = {
    "k": "neighbours k",
    "overlap": "share of people who link the domains",
    "keep": "target ratings that a tested person keeps",
    "decay": "decay of older ratings",
    "epsilon": "epsilon",
}
PUBLISHED_K = 50
Point = tuple[float, float, float]


@dataclass(frozen=True)
class SweepLine:
    """A system in one panel: (place, mean, deviation over seeds), ascending. `even`: it does not
    depend on the axis, and is one figure for all places."""

    method: str
    mode: str
    points: tuple[Point, ...]
    even: bool = False


@dataclass(frozen=True)
class Sweep:
    """MAE along one axis of `AXES`; every other axis stays where `at` says.

    Overlap stays at the largest, kept ratings and decay at the fewest, k, of systems that have
    neighbours, nearest to 50, and each system's claim nearest to epsilon 1.
    """

    axis: str
    rows: Sequence[TrialRow]

    @cached_property
    def places(self) -> list[float]:
        """Where the axis was asked for, ascending."""
        values = {getattr(row, self.axis) for row in self.rows}
        return sorted(float(value) for value in values if value is not None)

    @property
    def name(self) -> str:
        """What is on the axis, an epsilon with its unit."""
        return epsilon_per(self.rows) if self.axis == "epsilon" else AXES[self.axis]

    @property
    def varies(self) -> bool:
        """Whether there is anything to see: two places or more."""
        return len(self.places) > 1

    @cached_property
    def at(self) -> dict[str, float]:
        """Where the other axes stay, of those that vary; claims aside."""
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
        """Where the other axes stay, for a caption."""
        words = [f"{axis} {place:g}" for axis, place in self.at.items()]
        claims = self.axis != "epsilon" and Sweep("epsilon", self.rows).varies
        return words + ["the epsilon nearest 1"] * claims

    def here(self) -> list[TrialRow]:
        """The rows where the other axes stay, at every epsilon."""
        stay = self.at.items()
        return [r for r in self.rows if all(getattr(r, a) in (None, place) for a, place in stay)]

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """The ends of the axis of MAE; None where there is nothing to show."""
        spreads = [spread for line in self.lines() for _, _, spread in line.points]
        return limits(self._means, lower_is_better=True, spreads=spreads)

    @property
    def beyond(self) -> float | None:
        """The mean furthest off that axis; None where all are on it."""
        return beyond(self._means, self.limits)

    @cached_property
    def _means(self) -> list[float]:
        return [mean for line in self.lines() for _, mean, _ in line.points]

    def lines(self) -> list[SweepLine]:
        """Every system's line, in order of appearance."""
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
        found = {p: measured(here) for p, here in at.items()}
        points = tuple((place, fmean(maes), pstdev(maes)) for place, maes in found.items())
        return SweepLine(method, mode, points, even)

    def describe(self) -> str:
        """The panel in words, for those who cannot see it."""
        said = [f"Mean absolute error against {self.name}."]
        for line in self.lines():
            if line.even and line.points:
                said.append(f"{line.method}, {line.mode}: {line.points[0][1]:.3f}.")
            else:
                values = ", ".join(f"{mean:.3f} at {place:g}" for place, mean, _ in line.points)
                said.append(f"{line.method}, {line.mode}: {values}.")
        return " ".join(said)


@dataclass(frozen=True)
class Surface:
    """MAE of one system whose claim has two parts, at every pair of them."""

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
        """Whether both parts vary, and every pair of them was run."""
        pairs = len(self.replacements) * len(self.neighbours)
        return (
            min(len(self.replacements), len(self.neighbours)) > 1 and len(self.entries()) == pairs
        )

    def entries(self) -> dict[tuple[int, int], float]:
        """The mean at every pair that was run, by place among `replacements` and `neighbours`."""
        found: dict[tuple[int, int], list[TrialRow]] = {}
        for row in self.rows:
            if row.replacement_epsilon and row.neighbour_epsilon:
                x = self.replacements.index(row.replacement_epsilon)
                y = self.neighbours.index(row.neighbour_epsilon)
                found.setdefault((x, y), []).append(row)
        return {place: mean(rows) for place, rows in sorted(found.items())}

    def describe(self) -> str:
        """The surface in words."""
        values = "; ".join(
            f"{mean:.3f} at {self.replacements[x]:g} and {self.neighbours[y]:g}"
            for (x, y), mean in self.entries().items()
        )
        return (
            f"{self.method}: mean absolute error at epsilon of replacements and of neighbours: "
            f"{values}."
        )


def sweeps(rows: Sequence[TrialRow]) -> list[Sweep]:
    """A sweep along every axis that varies; against epsilon without those that have a surface.

    Of what predicts ratings: floors of lists have no error.
    """
    rows = rated(rows)
    parted = {surface.method for surface in surfaces(rows)}
    whole = [row for row in rows if row.method not in parted]
    found = (Sweep(axis, whole if axis == "epsilon" else rows) for axis in AXES)
    return [sweep for sweep in found if sweep.varies]


def surfaces(rows: Sequence[TrialRow]) -> list[Surface]:
    """A surface of every system that was run at pairs of epsilons, where the other axes stay."""
    here = Sweep("epsilon", rows).here()
    methods = dict.fromkeys(row.method for row in here if row.neighbour_epsilon is not None)
    found = (Surface(name, [row for row in here if row.method == name]) for name in methods)
    return [surface for surface in found if surface.complete]


def _one_claim(rows: Sequence[TrialRow]) -> list[TrialRow]:
    """Those of the claim nearest to epsilon 1; of two parts, the one that replaces with least."""
    claims = {(row.epsilon or 0.0, row.replacement_epsilon or 0.0) for row in rows}
    chosen = min(claims, key=lambda claim: (*_off(1)(claim[0]), claim[1]))
    return [r for r in rows if (r.epsilon or 0.0, r.replacement_epsilon or 0.0) == chosen]


def _off(wanted: float) -> Callable[[float], tuple[float, float]]:
    """An order by distance from what is wanted, the smaller first."""
    return lambda value: (abs(value - wanted), value)
