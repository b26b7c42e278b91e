"""Noisy releases: the only output channel from the ratings to a trainer's result.

A trainer computes totals on declared integer grids and requests noisy ones here. Noise, price and
declared sensitivity are arguments of one call, so they cannot diverge. All releases are recorded.
An audit can substitute this object, since it receives everything that a trainer reads.

Integer noise for a curator, sampled exactly from the operating system's random bits.

The discrete laws and their samplers are those of Canonne, Kamath and Steinke (2020). No floats are
used, so the low-order bits of a release reveal nothing about the totals. Everything is vectorised:
a rejected draw is repeated at its position.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.collection.sampler import BulkWords, secret_words
from tacit.errors import RequestError

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_DEVIATION, MOST_SCALE = 1 << 24, 1 << 56
"""Largest deviation in grid steps. Above it Gaussian noise would overflow 64 bits."""


class IntegerNoise:
    """Samplers of integer noise.

    `words` is replaced in tests only; default: secret random words.
    """

    def __init__(self, words: BulkWords | None = None) -> None:
        self._words = words if words is not None else secret_words()

    def laplace(self, count: int, scale: int) -> Ints:
        """Draw n with P(n) proportional to exp(-|n| / scale); shape (count,).

        Raises `RequestError` for a scale below 1 or above `MOST_SCALE`, whose draws would exceed 64
        bits.
        """
        if not 1 <= scale <= MOST_SCALE:
            raise RequestError(
                f"The scale of Laplace noise must be from 1 to {MOST_SCALE} steps, got {scale}; "
                "use another grid."
            )
        return _until_accepted(count, lambda size: self._laplace_try(size, scale))

    def gaussian(self, count: int, deviation: int) -> Ints:
        """Draw n with P(n) proportional to exp(-n^2 / (2 s^2)), s = `deviation`; shape (count,).

        Accepted from `laplace` of scale s with probability exp(-(|n| - s)^2 / (2 s^2)). Raises
        `RequestError` for a deviation below 1 or above `MOST_DEVIATION`.
        """
        if not 1 <= deviation <= MOST_DEVIATION:
            raise RequestError(
                "The standard deviation of Gaussian noise must be from 1 to "
                f"{MOST_DEVIATION} steps, got {deviation}; use another grid."
            )

        def attempt(size: int) -> tuple[Ints, Mask]:
            draws = self.laplace(size, deviation)
            exponents = (np.abs(draws) - deviation) ** 2
            return draws, self._exp_coin(exponents, 2 * deviation**2)

        return _until_accepted(count, attempt)

    def vectors(self, rows: int, columns: int, scale: float) -> Ints:
        """Draw rows of density exp(-||n||_2 / scale), rounded to integers; shape (rows, columns).

        The norm is Gamma(columns, scale), the direction uniform. Draws are floats and then rounded:
        a fixed law on integers, independent of the integers it is added to. It deviates from the
        ideal law by double-precision errors.
        """
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        normals: NDArray[np.float64] = special.ndtri(self._uniform(rows * columns))
        directions = normals.reshape(rows, columns)
        norms = scale * special.gammaincinv(columns, self._uniform(rows))
        lengths = np.sqrt((directions**2).sum(1))
        return np.rint(directions * (norms / lengths)[:, None]).astype(np.int64)

    def _uniform(self, count: int) -> NDArray[np.float64]:
        """Return odd multiples of 2^-53: never 0, never 1."""
        # 52 bits and a half are 53, which a float holds. One bit more would round up to 1.
        bits = (self._fresh(count) >> np.uint64(12)).astype(np.float64)
        return (bits + 0.5) * 2.0**-52

    def _laplace_try(self, size: int, scale: int) -> tuple[Ints, Mask]:
        # |n| = u + scale v: u uniform, accepted with probability exp(-u / scale), v geometric.
        low = self._below(np.full(size, scale))
        accepted = self._exp_coin(low, scale)
        high = np.zeros(size, np.int64)
        going = np.arange(size)
        while len(going):
            going = going[self._exp_coin(np.ones(len(going), np.int64), 1)]
            high[going] += 1
        sizes = low + scale * high
        negative = (self._fresh(size) >> np.uint64(63)).astype(np.bool_)
        return np.where(negative, -sizes, sizes), accepted & ~(negative & (sizes == 0))

    def _exp_coin(self, numerators: Ints, denominator: int) -> Mask:
        """Return True with probability exp(-numerator / denominator), exactly."""
        heads = np.ones(len(numerators), np.bool_)
        units, rest = np.divmod(numerators, denominator)
        going = np.flatnonzero(units)
        while len(going):  # a factor of e^-1 for each unit
            tossed = self._small_exp_coin(np.full(len(going), 1), 1)
            heads[going[~tossed]] = False
            units[going] -= 1
            going = going[tossed & (units[going] > 0)]
        alive = np.flatnonzero(heads & (rest > 0))  # exp(0) = 1 needs no coin
        heads[alive] = self._small_exp_coin(rest[alive], denominator)
        return heads

    def _small_exp_coin(self, numerators: Ints, denominator: int) -> Mask:
        """Return the same for numerator <= denominator: the parity of a run of ever rarer coins."""
        runs = np.ones(len(numerators), np.int64)
        going = np.arange(len(numerators))
        while len(going):
            tossed = self._below(denominator * runs[going]) < numerators[going]
            going = going[tossed]
            runs[going] += 1
        return runs % 2 == 1

    def _below(self, bounds: Ints) -> Ints:
        """Draw uniform integers in [0, bound), rejecting the last incomplete run of 2^64."""
        bound = bounds.astype(np.uint64)
        # 2^64 mod bound, as unsigned integers wrap.
        last = np.uint64(2**64 - 1) - (np.uint64(0) - bound) % bound
        words = self._fresh(len(bounds))
        values, going = words % bound, np.flatnonzero(words > last)
        while len(going):
            words = self._fresh(len(going))
            values[going] = words % bound[going]
            going = going[words > last[going]]
        return values.astype(np.int64)

    def _fresh(self, count: int) -> NDArray[np.uint64]:
        words = np.empty(count, np.uint64)
        # The secrecy of all releases depends on these words: fresh for every coin.
        self._words.fill(words)
        return words


def _until_accepted(count: int, attempt: Callable[[int], tuple[Ints, Mask]]) -> Ints:
    """Repeat `attempt` until `count` draws are accepted, in order."""
    batches, left = list[Ints](), count
    while left > 0:
        draws, accepted = attempt(max(16, math.ceil(1.5 * left)))
        batches.append(draws[accepted][:left])
        left -= len(batches[-1])
    return np.concatenate([np.empty(0, np.int64), *batches])


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
