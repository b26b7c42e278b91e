"""Integer noise for a curator, sampled exactly from the operating system's random bits.

The discrete laws and their samplers are those of Canonne, Kamath and Steinke (2020). No floats are
used, so the low-order bits of a release reveal nothing about the totals. Everything is vectorised:
a rejected draw is repeated at its position.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.collection.keystream import BulkWords, secret_words
from tacit.errors import RequestError

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_DEVIATION = 1 << 24
"""Largest deviation in grid steps. Above it Gaussian noise would overflow 64 bits."""


class IntegerNoise:
    """Samplers of integer noise.

    `words` is replaced in tests only; default: secret random words.
    """

    def __init__(self, words: BulkWords | None = None) -> None:
        self._words = words if words is not None else secret_words()

    def laplace(self, count: int, scale: int) -> Ints:
        """Draw n with P(n) proportional to exp(-|n| / scale), scale >= 1; shape (count,)."""
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
        alive = np.flatnonzero(heads)
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
        values = np.empty(len(bounds), np.uint64)
        last = np.uint64(2**64 - 1) - (np.uint64(2**64 - 1) % bound + np.uint64(1)) % bound
        going = np.arange(len(bounds))
        while len(going):
            words = self._fresh(len(going))
            fits = words <= last[going]
            values[going[fits]] = words[fits] % bound[going[fits]]
            going = going[~fits]
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
