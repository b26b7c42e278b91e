"""Certificate of a collection of shuffled messages: its rounds, its conditions, and both epsilons.

A device verifies it from its numbers alone, by the bound of `tacit.privacy.shuffled_messages`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Self

from tacit.errors import CertificateError, RequestError, integer
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.ledger import epsilon_text
from tacit.privacy.shuffled_messages import (
    Neighbour,
    ShuffledRound,
    shuffled_delta,
    shuffled_epsilon,
)
from tacit.scale import shortest

LARGEST_DELTA = Decimal("0.01")
"""Largest product of delta and the number of bundles."""
PLACES = Decimal("0.001")


@dataclass(frozen=True, kw_only=True)
class ShuffledCertificate:
    """(epsilon, delta) per user of all rounds together, and the conditions under which it holds.

    `rounds`: messages of a device in each round. `bundles`: least number of bundles in a batch, one
    per person. `honest`: fraction of them from devices that follow the protocol and keep their
    draws secret, a decimal string. `delta`: decimal string. `replaced`: epsilon in nats per user,
    where a profile is replaced by any other one. `empty`: the same, where one of the two profiles
    has no items.

    Raises `RequestError` for values that are no such numbers.
    """

    rounds: tuple[ShuffledRound, ...]
    bundles: int
    honest: str
    delta: str
    replaced: str
    empty: str

    def __post_init__(self) -> None:
        if not self.rounds:
            raise RequestError("A certificate must have at least one round, got none.")
        integer("bundles", self.bundles, 1)
        for name, value in (("honest", self.honest), ("delta", self.delta)):
            if not 0 < _decimal(name, value) <= 1:
                raise RequestError(f"{name} must be above 0 and at most 1, got {value[:40]}.")
        for value in (self.replaced, self.empty):
            epsilon_text(value)

    @classmethod
    def of(
        cls,
        rounds: Sequence[ShuffledRound],
        *,
        bundles: int,
        honest: str,
        delta: str,
        replaced: str | None = None,
    ) -> Self:
        """Return the certificate of these rounds. Computed epsilons are rounded up to three places.

        `replaced`: the epsilon to claim, None to compute it. Raises `RequestError` as the
        constructor, and where an epsilon exceeds 64.
        """
        claim = cls(
            rounds=tuple(rounds),
            bundles=bundles,
            honest=honest,
            delta=delta,
            replaced="1",
            empty="1",
        )
        return cls(
            rounds=claim.rounds,
            bundles=bundles,
            honest=honest,
            delta=delta,
            replaced=claim._epsilon("replaced") if replaced is None else replaced,
            empty=claim._epsilon("empty"),
        )

    @property
    def devices(self) -> int:
        """Honest devices in every batch: honest x bundles, rounded down.

        At least one: the guarantee is that of a user whose own device follows the protocol.
        """
        return max(floor(Fraction(self.honest) * self.bundles), 1)

    def _epsilon(self, neighbour: Neighbour) -> str:
        return _least_epsilon(self.rounds, self.devices, float(self.delta), neighbour)

    @property
    def flaw(self) -> str | None:
        """Why the numbers do not prove the claim; None if they do."""
        if Fraction(self.delta) * self.bundles > Fraction(LARGEST_DELTA):
            return (
                f"delta must be at most {LARGEST_DELTA} / {self.bundles} bundles, got {self.delta}."
            )
        claims: tuple[tuple[Neighbour, str], ...] = (
            ("replaced", self.replaced),
            ("empty", self.empty),
        )
        for neighbour, epsilon in claims:
            bound = _bound(tuple(self.rounds), self.devices, float(epsilon), neighbour)
            if bound > float(self.delta):
                return (
                    f"Epsilon {epsilon} ({neighbour}) holds at delta {bound:.2g}, above "
                    f"{self.delta}; send more dummies or claim a larger epsilon."
                )
        return None

    def verify(self) -> None:
        """Raise `CertificateError` unless the numbers prove the claim."""
        sentence = self.flaw
        if sentence is not None:
            raise CertificateError(sentence)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee per user: the profile is replaced by any other one."""
        return Guarantee(
            epsilon=self.replaced,
            empty=self.empty,
            delta=self.delta,
            unit="user",
            trust="shuffler",
            released="one shuffled batch of messages per round",
            public=("who takes part, and when",),
            assumptions=(
                "neighbours: the profile is replaced by any other one, at the same participation",
                "the shuffler follows the protocol: it forges, drops and retains no bundle, and "
                f"releases no batch of fewer than {self.bundles} bundles",
                f"at least {self.devices} bundles of each batch come from devices that follow the "
                "protocol and keep their draws secret",
                "each person sends one bundle per round",
            ),
        )

    @property
    def sentence(self) -> str:
        """The guarantee in English, with both epsilons, its conditions and what it omits."""
        return (
            f"Epsilon = {self.replaced} per user (profile replaced by any other one) and "
            f"{self.empty} per user (against an empty profile), delta = {self.delta}: between any "
            "two profiles of a user who takes part, the provider's view of all rounds is this "
            "close, with any information on other users. Conditions: the shuffler follows the "
            f"protocol, at least {self.devices} of {self.bundles} bundles come from devices that "
            "follow it and keep their draws secret, and each person sends one bundle per round. "
            "Not hidden: who takes part, and when. Not covered: a shuffler that forges, drops or "
            "retains bundles."
        )


@lru_cache
def _bound(
    rounds: tuple[ShuffledRound, ...], devices: int, epsilon: float, neighbour: Neighbour
) -> float:
    """Return the bound on delta. Cached, since a process verifies a task more than once."""
    return shuffled_delta(rounds, devices=devices, epsilon=epsilon, neighbour=neighbour)


@lru_cache
def _least_epsilon(
    rounds: tuple[ShuffledRound, ...], devices: int, delta: float, neighbour: Neighbour
) -> str:
    """Return epsilon of these rounds, rounded up. Cached, since it takes about a second."""
    bound = shuffled_epsilon(rounds, devices=devices, delta=delta, neighbour=neighbour)
    return shortest(Decimal(bound).quantize(PLACES, ROUND_CEILING))


def _decimal(name: str, value: str) -> Decimal:
    try:
        number = Decimal(value)
    except (InvalidOperation, TypeError):
        number = Decimal("NaN")
    if not number.is_finite():
        raise RequestError(f"{name} must be a decimal string such as 0.8, got {value!r}.")
    return number
