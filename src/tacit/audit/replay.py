"""The replay audit: a training, its outputs frozen, run again on a neighbouring data set.

Every look at the ratings passes through `tacit.training.mechanism.noisy_releases`. The first run is
recorded; the second gets the *outputs* of the first, so that both have the same past at each look.
Then the looks must be the same ones, in the same order, and what goes in may differ by no more than
was declared; what is declared public may not differ at all; and what comes out at the end, computed
from released numbers, must be the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Ratings
from tacit.training.mechanism.noisy_releases import Kind, NoisyReleases, Spend

Ints = NDArray[np.int64]
Value = TypeVar("Value")
Training = Callable[[Ratings, NoisyReleases], Any]
"""Trains on ratings with the given releases; returns the arrays that it releases."""


@dataclass(frozen=True, eq=False)
class Look:
    """One release: what went in, what came out, and what was declared."""

    name: str
    kind: Kind
    sensitivity: int
    price: str
    given: Any
    returned: Any


class DivergedError(Exception):
    """The second run asked for something else than the first: it cannot go on."""


@dataclass
class Recorder:
    """Passes every call on to `releases` and keeps it."""

    releases: NoisyReleases
    looks: list[Look] = field(default_factory=list[Look])

    @property
    def spent(self) -> list[Spend]:
        """As `releases` has it."""
        return self.releases.spent

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """As `releases` does. `epsilon`: nats, a decimal string."""
        out = self.releases.laplace(name, totals, sensitivity=sensitivity, epsilon=epsilon)
        return self._kept(Look(name, "laplace", sensitivity, epsilon, totals.copy(), out))

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """As `releases` does. `epsilon`: nats, a decimal string."""
        out = self.releases.vectors(name, rows, sensitivity=sensitivity, epsilon=epsilon)
        return self._kept(Look(name, "vectors", sensitivity, epsilon, rows.copy(), out))

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """As `releases` does."""
        out = self.releases.gaussian(name, totals, sensitivity=sensitivity, multiplier=multiplier)
        return self._kept(Look(name, "gaussian", sensitivity, multiplier, totals.copy(), out))

    def public(self, name: str, value: Value) -> Value:
        """As `releases` does."""
        out = self.releases.public(name, value)
        self.looks.append(Look(name, "public", 0, "0", np.copy(np.asarray(value)), out))
        return out

    def _kept(self, look: Look) -> Ints:
        self.looks.append(look)
        return look.returned


@dataclass
class Replayer:
    """Answers every call with what the recorded run got, and notes what should not be."""

    looks: list[Look]
    findings: list[str] = field(default_factory=list[str])
    place: int = 0

    @property
    def spent(self) -> list[Spend]:
        """What the recorded run spent up to the same look."""
        return [Spend(look.name, look.kind, look.price) for look in self.looks[: self.place]]

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """The recorded answer. `epsilon`: nats, a decimal string."""
        return self._answer("laplace", name, totals, sensitivity, epsilon)

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """The recorded answer. `epsilon`: nats, a decimal string."""
        return self._answer("vectors", name, rows, sensitivity, epsilon)

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """The recorded answer."""
        return self._answer("gaussian", name, totals, sensitivity, multiplier)

    def public(self, name: str, value: Value) -> Value:
        """The recorded answer."""
        return self._answer("public", name, np.asarray(value), 0, "0")

    def _answer(self, kind: Kind, name: str, given: Any, sensitivity: int, price: str) -> Any:
        if self.place >= len(self.looks):
            raise DivergedError(
                f"Query {self.place}, {name}, has no counterpart, because the runs have "
                "different numbers of queries."
            )
        look = self.looks[self.place]
        declared = (look.kind, look.name, look.sensitivity, look.price)
        if declared != (kind, name, sensitivity, price) or look.given.shape != given.shape:
            raise DivergedError(
                f"Query {self.place} is {name} of shape {given.shape} in one run and {look.name} "
                f"of shape {look.given.shape} in the other, or declares another sensitivity or "
                "privacy cost."
            )
        self.place += 1
        moved = distance(kind, look.given, given)
        if moved > sensitivity:
            self.findings.append(
                f"Query {self.place - 1}, {name}: its input changed by {moved:g} steps and "
                f"{'is declared public' if kind == 'public' else f'declares {sensitivity}'}."
            )
        return look.returned


def distance(kind: Kind, one: Any, other: Any) -> float:
    """How far two inputs are apart in the norm that the kind of noise covers."""
    if kind == "public":
        return 0.0 if np.array_equal(one, other) else float("inf")
    if kind == "laplace":
        return float(np.abs(one - other).sum())
    squares = ((one - other).astype(np.float64) ** 2).sum(-1)
    return float(np.sqrt(squares).sum() if kind == "vectors" else np.sqrt(squares.sum()))


def replay(
    training: Training, ratings: Ratings, neighbour: Ratings, releases: NoisyReleases
) -> list[str]:
    """What the replay finds wrong, as sentences; empty when nothing is.

    `training` is deterministic but for its noise; seed what it draws in public alike in both runs.
    """
    recorder = Recorder(releases)
    first = training(ratings, recorder)
    replayer = Replayer(recorder.looks)
    try:
        second = training(neighbour, replayer)
    except DivergedError as error:
        return [*replayer.findings, str(error)]
    if replayer.place < len(recorder.looks):
        replayer.findings.append(
            f"The second run stopped after {replayer.place} of {len(recorder.looks)} queries."
        )
    if not _same(first, second):
        replayer.findings.append(
            "The final outputs differ, so they depend on the ratings without noise."
        )
    return replayer.findings


def _same(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(one, other) for one, other in zip(first, second, strict=True)
    )
