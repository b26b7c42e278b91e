"""Accounting for one rating value: the prices of releases add up, exactly.

A release whose totals one value moves by its sensitivity at most, with Laplace noise (or noise of
the same density on vectors) at price e, tells no more than e about that value. Releases at
e_1, e_2, ... together tell no more than e_1 + e_2 + ..., even where later ones depend on the
outputs of earlier ones: the basic composition of pure epsilon. Prices are decimal strings, so the
sum is exact.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError
from tacit.training.mechanism.epsilon import nats
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases, Spend

Ints = NDArray[np.int64]
Value = TypeVar("Value")


@dataclass
class ValueAccount:
    """Releases that are paid for: each is refused before noise is drawn if epsilon would not last.

    `epsilon`: nats per rating value, a decimal string. `releases`: where noise comes from.
    Raises `RequestError` for an epsilon that is no positive decimal.
    """

    epsilon: str
    releases: NoisyReleases = field(default_factory=SecretReleases)
    spent: list[Spend] = field(default_factory=list[Spend])
    opened: int = field(init=False)

    def __post_init__(self) -> None:
        nats(self.epsilon)
        self.opened = len(self.releases.spent)

    @property
    def total(self) -> Decimal:
        """What was spent so far, in nats per rating value."""
        return sum((Decimal(look.price) for look in self.spent), Decimal(0))

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """As `NoisyReleases.laplace`; raises `CertificateError` beyond the account's epsilon."""
        self._pay(Spend(name, "laplace", epsilon))
        return self.releases.laplace(name, totals, sensitivity=sensitivity, epsilon=epsilon)

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """As `NoisyReleases.vectors`; raises `CertificateError` beyond the account's epsilon."""
        self._pay(Spend(name, "vectors", epsilon))
        return self.releases.vectors(name, rows, sensitivity=sensitivity, epsilon=epsilon)

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """Refused with `CertificateError`: Gaussian noise has no epsilon without a delta."""
        raise CertificateError(
            f"The release {name} requests Gaussian noise, which guarantees no epsilon at delta 0; "
            "use `laplace` or `vectors`."
        )

    def public(self, name: str, value: Value) -> Value:
        """As `NoisyReleases.public`: free, and written down."""
        self.spent.append(Spend(name, "public", "0"))
        return self.releases.public(name, value)

    def close(self) -> str:
        """The epsilon that holds for the whole training, in nats per rating value.

        Raises `CertificateError` where anything was released that was not paid for here.
        """
        drawn = self.releases.spent[self.opened :]
        if drawn != self.spent:
            raise CertificateError(
                f"The noise drawn, {drawn}, differs from the charged noise, {self.spent}."
            )
        return self.epsilon

    def _pay(self, spend: Spend) -> None:
        if self.total + nats(spend.price) > nats(self.epsilon):
            raise CertificateError(
                f"The release {spend.name} costs {spend.price} nats after {self.total}, which "
                f"exceeds the {self.epsilon} nats guaranteed per rating value."
            )
        self.spent.append(spend)
