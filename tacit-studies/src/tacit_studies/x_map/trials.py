"""The trials behind X-Map's figures, and their rows: one axis changes at a time.

What is not on an axis is fixed: all users link, nothing is kept, k is 50, `x-map` claims .3 and .8
(items) or .6 and .3 (users), strict systems have epsilon 8 per user.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, Self, get_args

from tacit.crossdomain import changed, systems
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import System
from tacit.crossdomain.x_map.x_map import AlterEgos
from tacit.engines.engine import Local
from tacit.experiments.crossdomain.trial_cell import TrialCell
from tacit.experiments.crossdomain.trial_measurement import TrialMeasurement
from tacit.experiments.experiment import Experiment, Journal
from tacit.progress import bar
from tacit.results.crossdomain.charts import PUBLISHED_K
from tacit.results.crossdomain.rows import TrialRow

PUBLISHED = {"item": "1.1", "user": "0.9"}
"""What `x-map` claims by items and by people, in nats: both its epsilons together."""
STRICT = "8"
PRINTED = ("nx-map", "x-map")
UNDAMPED = "knn-linked"
"""The baseline that is also measured without damping, as the paper's systems are."""
JUDGED = (*PRINTED, UNDAMPED, "item-average", "remote-user")
"""Systems of the claims."""
DAMPINGS = (0, 50)
# The eighth has the colour of the first, and so on: pairs that nobody mistakes for one another.
METHODS = (
    "nx-map (item)", "nx-map (user)", "x-map-strict", "x-map-factors", "knn-linked (item)",
    "remote-user (user)", "item-average", "x-map (item), claim fails", "x-map (user), claim fails",
    "taste-map", "mf-merged", "knn-single (item)", "item-offset", "nx-map-everybody (item)",
    "nx-map-everybody (user)", "x-map-everybody (item), claim fails",
    "x-map-everybody (user), claim fails", "emcdr",
)  # fmt: skip

Asked = tuple[System, str | None, Holdout]


@dataclass(frozen=True)
class Axes:
    """Systems by name, numbers of neighbours, shares of users who link, kept ratings, pairs of
    epsilons in nats, and decays. `tables`: whether to measure what no claim needs."""

    names: tuple[str, ...]
    ks: tuple[int, ...]
    overlaps: tuple[float, ...]
    keeps: tuple[int, ...]
    epsilons: tuple[str, ...]
    decays: tuple[float, ...]
    tables: bool = True

    @property
    def judged(self) -> Self:
        """The ends of the axes, and the systems that the claims are about."""
        return type(self)(
            names=tuple(name for name in self.names if name in JUDGED),
            ks=(PUBLISHED_K,),
            overlaps=ends(self.overlaps),
            keeps=ends(self.keeps),
            epsilons=ends(self.epsilons),
            decays=(),
            tables=False,
        )

    def declared(self) -> Iterator[tuple[System, str | None]]:
        """Yield every system, and the epsilon that it is given."""
        for name in self.names:
            for system in systems(name, "both"):
                claims = {
                    "none": None,
                    "faithful": PUBLISHED.get(system.variant or ""),
                    "strict": STRICT,
                }
                yield system, claims[system.mode]

    def swept(self) -> Iterator[Asked]:
        """Yield what the lines show."""
        for system, epsilon in self.declared():
            every = [changed(system, k=k) for k in self.ks] if "k" in vars(system) else [system]
            yield from ((each, epsilon, Holdout()) for each in every)
            for overlap in self.overlaps:
                if overlap < 1:
                    yield system, epsilon, Holdout(overlap=overlap)
            for keep in self.keeps:
                if keep:
                    yield system, epsilon, Holdout(keep=keep)

    def undamped(self) -> Iterator[Asked]:
        """Yield the undamped baseline at every share of users who link."""
        for system, epsilon in self.declared():
            if system.name == UNDAMPED:
                for overlap in dict.fromkeys((*self.overlaps, 1.0)):
                    yield changed(system, damping=0), epsilon, Holdout(overlap=overlap)

    def paired(self) -> Iterator[Asked]:
        """Yield `x-map` by items and by users at every pair of epsilons."""
        both = product(systems("x-map", "faithful"), self.epsilons, self.epsilons)
        for published, second, first in both:
            yield changed(published, neighbour_epsilon=second), first, Holdout()

    def decaying(self) -> Iterator[Asked]:
        """Yield the maps by items, with weights that fall with the age of a rating."""
        for system, epsilon in self.declared():
            if system.variant == "item" and "decay" in vars(system):
                for decay in self.decays:
                    yield changed(system, decay=decay), epsilon, Holdout()

    def choices(self) -> Iterator[Asked]:
        """Yield both maps, with similarities damped or not, and AlterEgos of the tested or of all
        users: each as printed, and with what Tacit's `nx-map-everybody` adds, one at a time."""
        for system, epsilon in self.declared():
            if system.name in PRINTED and self.tables:
                for damping, alteregos in product(DAMPINGS, get_args(AlterEgos)):
                    yield changed(system, damping=damping, alteregos=alteregos), epsilon, Holdout()


def ends(axis: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the least and the largest value of an axis."""
    return tuple(dict.fromkeys((min(axis, key=float), max(axis, key=float))))


class Way(NamedTuple):
    """The rows of one direction, for one draw of test users."""

    lines: list[TrialRow]
    pairs: list[TrialRow]
    decays: list[TrialRow]
    choices: list[TrialRow]
    undamped: list[TrialRow]

    @property
    def title(self) -> str:
        """The direction."""
        return f"{self.lines[0].source} to {self.lines[0].target}"

    @property
    def shown(self) -> list[TrialRow]:
        """The rows that have a line: strict means have one in tables alone."""
        return [r for r in self.lines if r.mode != "strict" or r.model.startswith("x-map")]

    @property
    def temporal(self) -> list[TrialRow]:
        """The rows of systems that may decay, at every decay and none."""
        able = {row.method for row in self.decays}
        none = [row for row in self.lines if row.method in able]
        return [r for r in none if (r.k, r.overlap, r.keep) == (PUBLISHED_K, 1, 0)] + self.decays

    def along(self, method: str, mode: str, axis: str) -> dict[float, TrialRow]:
        """Return the rows of a system by their place on an axis: k, overlap or keep.

        `mode` is "undamped" for the undamped baseline. Otherwise it is that of the rows, since a
        method may have rows with and without a guarantee.
        """
        usual = {"k": PUBLISHED_K, "overlap": 1, "keep": 0}
        rows = self.undamped if mode == "undamped" else self.lines
        mine = [r for r in rows if r.method == method and mode in (r.mode, "undamped")]
        others = [name for name in usual if name != axis]
        return {
            float(getattr(row, axis)): row
            for row in mine
            if all(getattr(row, name) in (None, usual[name]) for name in others)
            and getattr(row, axis) is not None
        }


def measured(
    domains: Domains, target: int, axes: Axes, journal: Journal[TrialRow], seed: int = 0
) -> Way:
    """Return the rows of one direction, measured unless the journal has them.

    `seed`: of the draw of test users and of those who link.
    """
    data, measure = (
        domains.checksum,
        TrialMeasurement(domains, Local()),
    )

    def rows(asked: Iterator[Asked], title: str) -> list[TrialRow]:
        trials = sorted(asked, key=lambda one: (one[2].overlap, one[2].keep))
        cells = [
            TrialCell(
                data=data, names=domains.names, target=target,
                system=system, epsilon=epsilon, protocol=protocol, seed=seed,
            )
            for system, epsilon, protocol in trials
        ]  # fmt: skip
        experiment = Experiment(title=title, row=TrialRow, cells=cells, measure=measure)
        with bar(title) as progress:
            found = experiment.rows(journal, progress)
        return sorted(found, key=lambda row: METHODS.index(row.method))

    return Way(
        rows(axes.swept(), "lines"),
        rows(axes.paired(), "pairs"),
        rows(axes.decaying(), "decay"),
        rows(axes.choices(), "choices"),
        rows(axes.undamped(), "undamped"),
    )
