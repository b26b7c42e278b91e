"""Noisy releases: the only output channel from the ratings to a trainer's result.

A trainer computes totals on declared integer grids and requests noisy ones here. Noise, price and
declared sensitivity are arguments of one call, so they cannot diverge. All releases are recorded.
An audit can substitute this object, since it receives everything that a trainer reads.
"""

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.training.mechanism.noise import IntegerNoise

Ints = NDArray[np.int64]
Value = TypeVar("Value")
Kind = Literal["laplace", "vectors", "gaussian", "public"]


@dataclass(frozen=True)
class Spend:
    """One query of the ratings.

    `price`: nats, a decimal string, for `laplace` and `vectors`; the noise multiplier (standard
    deviation over sensitivity) for `gaussian`; "0" for `public`.
    """

    name: str
    kind: Kind
    price: str


class NoisyReleases(Protocol):
    """Releases available to a trainer."""

    @property
    def spent(self) -> list[Spend]:
        """All queries so far, in order."""
        ...

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Return `totals` plus discrete Laplace noise, at `epsilon` for all entries together.

        `sensitivity`: L1 sensitivity over neighbouring data, in grid steps. `epsilon`: nats, a
        decimal string.
        """
        ...

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Return `rows` (n, d) plus noise of density exp(-epsilon ||.||_2 / sensitivity) per row.

        `sensitivity`: bound on the summed L2 norms of the changes of all rows between neighbouring
        data, in steps. `epsilon`: nats per row, a decimal string.
        """
        ...

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """Return `totals` plus discrete Gaussian noise of deviation `multiplier` x `sensitivity`.

        `sensitivity`: L2 sensitivity over neighbouring data, in grid steps. `totals`: integers of
        any shape.
        """
        ...

    def public(self, name: str, value: Value) -> Value:
        """Return `value` unchanged: a function of the ratings that the unit declares public."""
        ...


@dataclass
class SecretReleases:
    """Releases with secret noise. `spent`: all queries, in order."""

    noise: IntegerNoise = field(default_factory=IntegerNoise)
    spent: list[Spend] = field(default_factory=list[Spend])

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Implement `NoisyReleases.laplace`. Raises `RequestError` for arguments without noise."""
        scale = laplace_scale(sensitivity, epsilon)
        self.spent.append(Spend(name, "laplace", epsilon))
        # exp(-L1 / scale) falls by at most e^epsilon when the totals move by the sensitivity.
        return totals + self.noise.laplace(totals.size, scale).reshape(totals.shape)

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """Implement `NoisyReleases.vectors`."""
        self.spent.append(Spend(name, "vectors", epsilon))
        # The same with L2 norms: noise of all rows has one density of their summed norms.
        count, columns = rows.shape
        return rows + self.noise.vectors(count, columns, sensitivity / float(epsilon))

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """Implement `NoisyReleases.gaussian`. Raises `RequestError` for arguments without noise."""
        self.spent.append(Spend(name, "gaussian", multiplier))
        # Gaussian differential privacy holds on integers as on reals (Canonne, Kamath and Steinke).
        deviation = gaussian_deviation(sensitivity, multiplier)
        return totals + self.noise.gaussian(totals.size, deviation).reshape(totals.shape)

    def public(self, name: str, value: Value) -> Value:
        """Implement `NoisyReleases.public`."""
        self.spent.append(Spend(name, "public", "0"))
        return value


def laplace_scale(sensitivity: int, epsilon: str) -> int:
    """Return the Laplace scale in steps, sensitivity / epsilon, rounded up.

    `epsilon`: nats. Raises `RequestError` for a sensitivity below 1 or an epsilon of 0.
    """
    if sensitivity < 1 or Decimal(epsilon) <= 0:
        raise RequestError(
            "A release must have a sensitivity of at least 1 and an epsilon above 0, got "
            f"sensitivity {sensitivity} and epsilon {epsilon}."
        )
    return int((sensitivity / Decimal(epsilon)).to_integral_value(ROUND_CEILING))


def gaussian_deviation(sensitivity: int, multiplier: str) -> int:
    """Return the standard deviation in steps, rounded up.

    Raises `RequestError` for a sensitivity below 1 or a multiplier of 0.
    """
    if sensitivity < 1 or Decimal(multiplier) <= 0:
        raise RequestError(
            "A release must have a sensitivity of at least 1 and a multiplier above 0, got "
            f"sensitivity {sensitivity} and multiplier {multiplier}."
        )
    return int((sensitivity * Decimal(multiplier)).to_integral_value(ROUND_CEILING))
