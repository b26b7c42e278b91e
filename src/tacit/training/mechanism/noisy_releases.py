"""Noisy releases: the one way by which anything about the ratings leaves a training.

A training computes totals on declared integer grids, and asks here for noisy ones. Noise, price and
declared sensitivity stand in one call, so they cannot drift apart; what was spent is written down;
and an audit can take its place, since it sees all that a training sees.
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
    """One look at the ratings. `price`: nats, a decimal string, for `laplace` and `vectors`; the
    noise multiplier (standard deviation over sensitivity) for `gaussian`; "0" for `public`."""

    name: str
    kind: Kind
    price: str


class NoisyReleases(Protocol):
    """What a training may ask of the ratings."""

    @property
    def spent(self) -> list[Spend]:
        """Every look so far, in order."""
        ...

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """`totals` plus discrete Laplace noise on every entry, at `epsilon` for all together.

        `sensitivity`: how far neighbouring data can move all entries, summed (L1), in grid steps.
        `epsilon`: nats, a decimal string.
        """
        ...

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """`rows` (n, d) plus noise of density exp(-epsilon ||.||_2 / sensitivity) on each row.

        `sensitivity`: how far neighbouring data can move all rows, their L2 norms summed, in steps.
        `epsilon`: nats a row, a decimal string.
        """
        ...

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """`totals` plus discrete Gaussian noise of deviation `multiplier` x `sensitivity`.

        `sensitivity`: how far neighbouring data can move all entries, in L2 norm, in grid steps.
        `totals`: whole numbers of any shape, which the result has.
        """
        ...

    def public(self, name: str, value: Value) -> Value:
        """`value` as it is: something about the ratings that the unit declares public."""
        ...


@dataclass
class SecretReleases:
    """Draws the noise. `spent` is the account, in the order of the looks."""

    noise: IntegerNoise = field(default_factory=IntegerNoise)
    spent: list[Spend] = field(default_factory=list[Spend])

    def laplace(self, name: str, totals: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """As `NoisyReleases.laplace`; raises `RequestError` where there would be no noise."""
        scale = laplace_scale(sensitivity, epsilon)
        self.spent.append(Spend(name, "laplace", epsilon))
        # exp(-L1 / scale) falls by at most e^epsilon when the totals move by the sensitivity.
        return totals + self.noise.laplace(totals.size, scale).reshape(totals.shape)

    def vectors(self, name: str, rows: Ints, *, sensitivity: int, epsilon: str) -> Ints:
        """As `NoisyReleases.vectors`."""
        self.spent.append(Spend(name, "vectors", epsilon))
        # The same with L2 norms: noise of all rows has one density of their summed norms.
        count, columns = rows.shape
        return rows + self.noise.vectors(count, columns, sensitivity / float(epsilon))

    def gaussian(self, name: str, totals: Ints, *, sensitivity: int, multiplier: str) -> Ints:
        """As `NoisyReleases.gaussian`; raises `RequestError` where there would be no noise."""
        self.spent.append(Spend(name, "gaussian", multiplier))
        # Gaussian differential privacy holds on integers as on reals (Canonne, Kamath and Steinke).
        deviation = gaussian_deviation(sensitivity, multiplier)
        return totals + self.noise.gaussian(totals.size, deviation).reshape(totals.shape)

    def public(self, name: str, value: Value) -> Value:
        """As `NoisyReleases.public`."""
        self.spent.append(Spend(name, "public", "0"))
        return value


def laplace_scale(sensitivity: int, epsilon: str) -> int:
    """Steps of Laplace scale, rounded up: sensitivity / epsilon; raises `RequestError` below 1.

    `epsilon`: nats.
    """
    if sensitivity < 1 or Decimal(epsilon) <= 0:
        raise RequestError(
            "A release must have a sensitivity of at least 1 and an epsilon above 0, got "
            f"sensitivity {sensitivity} and epsilon {epsilon}."
        )
    return int((sensitivity / Decimal(epsilon)).to_integral_value(ROUND_CEILING))


def gaussian_deviation(sensitivity: int, multiplier: str) -> int:
    """Steps of standard deviation, rounded up; raises `RequestError` where there is no noise."""
    if sensitivity < 1 or Decimal(multiplier) <= 0:
        raise RequestError(
            "A release must have a sensitivity of at least 1 and a multiplier above 0, got "
            f"sensitivity {sensitivity} and multiplier {multiplier}."
        )
    return int((sensitivity * Decimal(multiplier)).to_integral_value(ROUND_CEILING))
