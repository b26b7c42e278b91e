"""What an attack is: who attacks, knowing what, and the figures that come of it."""

from dataclasses import dataclass
from typing import Protocol

from tacit.audit.attacks.world import World

NEEDS = ("reports", "channel", "ratings")
"""What an attack is run on: "reports" of each channel, and beside them of no privacy at all; the
same without the latter ("channel"); or true "ratings", once, where it runs trainings at epsilons of
its own."""

DEVIATIONS = 4.5
"""Standard errors above a bound from which chance is no excuse: once in 300,000 times."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One figure of one attack. `setting`: what the attacker had, in words. `value`: of `figure`,
    a share from 0 to 1, or stars where the figure says so. `baseline`: the same by the attack's
    baseline. `bound`: what the promise allows; None where it says nothing of this figure. `error`:
    the standard error of `value`. `count`: of how many people, entries or items it is a mean.
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
        """Whether the figure is above what the promise allows, and not by chance."""
        return self.bound is not None and self.value > self.bound + DEVIATIONS * self.error + 1e-9


class AbstractAttack(Protocol):
    """Settings of an attack; `run` plays it. The same world gives the same findings."""

    @property
    def name(self) -> str:
        """The attack's name on the command line."""
        ...

    @property
    def knows(self) -> str:
        """What the attacker has and knows, in a sentence."""
        ...

    @property
    def baseline(self) -> str:
        """What its figures stand beside, in a few words."""
        ...

    @property
    def needs(self) -> str:
        """What it is run on, of `NEEDS`."""
        ...

    def run(self, world: World) -> list[Finding]:
        """Its figures in this world; none where it does not apply."""
        ...
