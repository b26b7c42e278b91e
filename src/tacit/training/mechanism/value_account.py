"""Accounting per rating value: basic composition of pure epsilon, exactly.

A release whose totals change by at most its sensitivity with one value, with Laplace noise (or
noise of the same density on vectors) at price e, is e-differentially private for that value.
Releases at e_1, e_2, ... together are (e_1 + e_2 + ...)-differentially private, even where later
ones depend on the outputs of earlier ones: the basic composition of pure epsilon. Prices are
decimal strings, so the sum is exact.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError
from tacit.training.mechanism.accounting import nats
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases, Spend

Ints = NDArray[np.int64]
Value = TypeVar("Value")


@dataclass
class ValueAccount:
    """Releases within a budget. A release beyond epsilon is refused before noise is drawn.

    `epsilon`: nats per rating value, a decimal string. `releases`: source of noise. Raises
    `RequestError` for an epsilon that is not a positive decimal.
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
        """Privacy cost so far, in nats per rating value."""
        return sum((Decimal(look.price) for look in self.spent), Decimal(0))

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Implement `NoisyReleases.laplace`. Raises `CertificateError` beyond the budget."""
        self._pay(Spend(name, "laplace", epsilon))
        return self.releases.laplace(name, totals, sensitivity=sensitivity, epsilon=epsilon)

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Implement `NoisyReleases.vectors`. Raises `CertificateError` beyond the budget."""
        self._pay(Spend(name, "vectors", epsilon))
        return self.releases.vectors(name, rows, sensitivity=sensitivity, epsilon=epsilon)

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """Raise `CertificateError`: Gaussian noise has no epsilon without a delta."""
        raise CertificateError(
            f"The release {name} requests Gaussian noise, which guarantees no epsilon at delta 0; "
            "use `laplace` or `vectors`."
        )

    def public(self, name: str, value: Value) -> Value:
        """Implement `NoisyReleases.public`: free, and recorded."""
        self.spent.append(Spend(name, "public", "0"))
        return self.releases.public(name, value)

    def close(self) -> str:
        """Return the epsilon of the complete training run, in nats per rating value.

        Raises `CertificateError` if anything was released outside this account.
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
