"""Replay audit: rerun a trainer on a neighbouring data set, with the recorded outputs.

Every query of the ratings passes through `tacit.training.mechanism.noisy_releases`. The first run
is recorded. The second receives the *outputs* of the first, so both have the same history at each
query. Then the queries must be the same, in the same order; their inputs may differ by at most the
declared sensitivity; declared public values may not differ at all; and the final result, computed
from released values, must be identical bit by bit.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Ratings
from tacit.training.mechanism.noisy_releases import Kind, NoisyReleases, Spend

Ints = NDArray[np.int64]
Value = TypeVar("Value")
Training = Callable[[Ratings, NoisyReleases], Any]
"""Train on ratings with the given releases. Returns the released arrays."""


@dataclass(frozen=True, eq=False)
class Look:
    """One release: its input, its output, and its declared sensitivity and price.

    Both are copies, because a trainer may write into its arrays.
    """

    name: str
    kind: Kind
    sensitivity: int
    price: str
    given: Any
    returned: Any


class DivergedError(Exception):
    """The second run made another query than the first, so the replay cannot continue."""


@dataclass
class Recorder:
    """Forwards every call to `releases` and records it."""

    releases: NoisyReleases
    looks: list[Look] = field(default_factory=list[Look])

    @property
    def spent(self) -> list[Spend]:
        """The queries of `releases`."""
        return self.releases.spent

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Forward to `releases`. `epsilon`: nats, a decimal string."""
        copied = totals.copy()
        out = self.releases.laplace(name, totals, sensitivity=sensitivity, epsilon=epsilon)
        return self._recorded(Look(name, "laplace", sensitivity, epsilon, copied, out))

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Forward to `releases`. `epsilon`: nats, a decimal string."""
        copied = rows.copy()
        out = self.releases.vectors(name, rows, sensitivity=sensitivity, epsilon=epsilon)
        return self._recorded(Look(name, "vectors", sensitivity, epsilon, copied, out))

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """Forward to `releases`."""
        copied = totals.copy()
        out = self.releases.gaussian(name, totals, sensitivity=sensitivity, multiplier=multiplier)
        return self._recorded(Look(name, "gaussian", sensitivity, multiplier, copied, out))

    def public(self, name: str, value: Value) -> Value:
        """Forward to `releases`."""
        copied = np.copy(np.asarray(value))
        out = self.releases.public(name, value)
        return self._recorded(Look(name, "public", 0, "0", copied, deepcopy(out)))

    def _recorded(self, look: Look) -> Any:
        self.looks.append(look)
        return deepcopy(look.returned)


@dataclass
class Replayer:
    """Returns the recorded output of every call, and notes violations."""

    looks: list[Look]
    findings: list[str] = field(default_factory=list[str])
    place: int = 0

    @property
    def spent(self) -> list[Spend]:
        """The recorded queries so far."""
        return [Spend(look.name, look.kind, look.price) for look in self.looks[: self.place]]

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Return the recorded output. `epsilon`: nats, a decimal string."""
        return self._answer("laplace", name, totals, sensitivity, epsilon)

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Return the recorded output. `epsilon`: nats, a decimal string."""
        return self._answer("vectors", name, rows, sensitivity, epsilon)

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """Return the recorded output."""
        return self._answer("gaussian", name, totals, sensitivity, multiplier)

    def public(self, name: str, value: Value) -> Value:
        """Return the recorded output."""
        return self._answer("public", name, np.asarray(value), 0, "0")

    def _answer(self, kind: Kind, name: str, values: Any, sensitivity: int, price: str) -> Any:
        if self.place >= len(self.looks):
            raise DivergedError(
                f"Query {self.place}, {name}, has no counterpart: the runs make different numbers "
                "of queries."
            )
        look = self.looks[self.place]
        declared = (look.kind, look.name, look.sensitivity, look.price)
        if declared != (kind, name, sensitivity, price) or look.given.shape != values.shape:
            raise DivergedError(
                f"Query {self.place} is {name} of shape {values.shape} in one run and {look.name} "
                f"of shape {look.given.shape} in the other, or its declared sensitivity or "
                "privacy cost differs."
            )
        self.place += 1
        moved = distance(kind, look.given, values)
        if moved > sensitivity:
            self.findings.append(
                f"Query {self.place - 1}, {name}: its input changed by {moved:g} steps and "
                f"{'is declared public' if kind == 'public' else f'declares {sensitivity}'}."
            )
        return deepcopy(look.returned)


def distance(kind: Kind, one: Any, other: Any) -> float:
    """Return the distance of two inputs in the norm of the kind of noise."""
    if kind == "public":
        return 0.0 if np.array_equal(one, other) else float("inf")
    if kind == "laplace":
        return float(np.abs(one - other).sum())
    squares = ((one - other).astype(np.float64) ** 2).sum(-1)
    return float(np.sqrt(squares).sum() if kind == "vectors" else np.sqrt(squares.sum()))


def replay(
    training: Training, ratings: Ratings, neighbour: Ratings, releases: NoisyReleases
) -> list[str]:
    """Return the violations that a replay detects, as sentences; empty if none.

    `training`: deterministic except for its noise. Use the same public seed in both runs.
    """
    recorder = Recorder(releases)
    first = deepcopy(training(ratings, recorder))
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
            "The final outputs differ although all noisy releases are equal, so they depend "
            "directly on the ratings."
        )
    return replayer.findings


def _same(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(one, other) for one, other in zip(first, second, strict=True)
    )
