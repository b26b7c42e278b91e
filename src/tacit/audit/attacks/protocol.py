"""Protocol of attacks: the attacker's knowledge, and the resulting metrics."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from tacit.audit.attacks.world import World

NEEDS = ("reports", "channel", "ratings")
"""Inputs of an attack: "reports" of each channel, and unprotected ones; reports of channels alone
("channel"); or true "ratings", once, for attacks that run trainers at several epsilons."""

DEVIATIONS = 4.5
"""Standard errors above a bound that count as a violation: at random once in 300,000 times."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One metric of one attack.

    `setting`: the attacker's data, in words. `figure`: name of the metric. `value`: a fraction from
    0 to 1, or stars if `figure` has that unit. `baseline`: the same for the attack's baseline.
    `bound`: the most that the guarantee allows, None if it does not limit this metric. `error`:
    standard error of `value`. `count`: number of users, entries or items averaged over.
    """

    setting: str
    figure: str
    value: float
    baseline: float
    count: int
    bound: float | None = None
    error: float = 0.0

    @property
    def leaks(self) -> bool:
        """Whether the value significantly exceeds the bound of the guarantee."""
        return self.bound is not None and self.value > self.bound + DEVIATIONS * self.error + 1e-9


def mean_error(values: NDArray[Any]) -> float:
    """Return the standard error of the mean of `values` from 0 to 1, never 0.

    Half of `DEVIATIONS` squared are added at 0 and as many at 1 (Agresti and Coull 1998). A
    fraction then exceeds its expectation by `DEVIATIONS` errors at most once in 30,000 times. With
    one success and one failure added, it would where all of n attempts of probability 1 - 4.5 / n
    succeed, once in 90 times.
    """
    added = DEVIATIONS**2 / 2
    count = len(values) + 2 * added
    mean = (values.sum() + added) / count
    square = ((values * 1.0) ** 2).sum() + added
    return math.sqrt((square / count - mean**2) / max(1, len(values)))


def balanced_error(groups: Sequence[NDArray[Any]]) -> float:
    """Return the standard error of the mean over `groups` of the means of their values."""
    return math.sqrt(sum(mean_error(group) ** 2 for group in groups)) / len(groups)


class AbstractAttack(Protocol):
    """Settings of an attack, run by `run`. The same scenario yields the same findings."""

    @property
    def name(self) -> str:
        """Name of the attack on the command line."""
        ...

    @property
    def knows(self) -> str:
        """The attacker's observations and background knowledge, in a sentence."""
        ...

    @property
    def baseline(self) -> str:
        """The baseline of its metrics, in a few words."""
        ...

    @property
    def needs(self) -> str:
        """Its inputs, one of `NEEDS`."""
        ...

    def run(self, world: World) -> list[Finding]:
        """Return its metrics in this scenario; none where it does not apply."""
        ...
