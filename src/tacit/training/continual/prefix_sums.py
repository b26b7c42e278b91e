"""Prefix sums of growing data in a fixed number of releases, by the matrix mechanism.

Let x_k be what is new at release k. The totals S_t = x_1 + ... + x_t, that is S = A x with a lower
triangular A of ones, could each get fresh noise. A user's data would then be in up to n of them, at
sqrt(n) times the noise of a single release. The matrix mechanism factors A = L R and adds the noise
to R x, so that its sensitivity is the largest norm of a column of R:

    y_t = sum over k <= t of R_tk x_k + noise,     S_t ~ sum over k <= t of L_tk y_k.

R is the square root of A, whose entries at distance k below the diagonal are binom(2k, k) / 4^k
(Fichtenberger, Henzinger and Upadhyay 2023). Noise then grows with log(n) / pi: at 52 releases it
is 2.33 times that of one release instead of 7.2 times. Entries are rounded to multiples of 1 / 32,
so that y is in integers. Sums remain unbiased, since L = A R^-1 holds for the rounded R.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
UNIT = 32
"""Steps per unit of an entry of R."""
MOST_RELEASES = 1000


@dataclass(frozen=True)
class PrefixSums:
    """Factorization of the prefix sums of `releases` releases, from 1 to 1,000.

    Raises `RequestError` for any other number.
    """

    releases: int

    def __post_init__(self) -> None:
        if not 1 <= self.releases <= MOST_RELEASES:
            raise RequestError(
                f"releases must be from 1 to {MOST_RELEASES:,}, got {self.releases:,}."
            )

    @cached_property
    def entries(self) -> Longs:
        """Entries of R by distance from the diagonal, in steps, shape (releases,)."""
        binomials = (math.comb(2 * k, k) * UNIT / 4**k for k in range(self.releases))
        return np.array([round(each) for each in binomials], np.int64)

    @cached_property
    def squared_norm(self) -> int:
        """Largest squared norm of a column of R, in squared steps: that of the first column."""
        return sum(int(each) ** 2 for each in self.entries)

    @cached_property
    def recovery(self) -> Doubles:
        """Entries of L by distance from the diagonal, shape (releases,)."""
        entries, solved = self.entries.astype(np.float64), np.zeros(self.releases)
        for k in range(self.releases):
            solved[k] = (1 - entries[1 : k + 1] @ solved[:k][::-1]) / entries[0]
        return solved

    def sums(self, measured: Sequence[Longs]) -> Doubles:
        """Return S_t from y_1 to y_t, each of shape (columns,) or (columns, columns).

        Earlier ones may be smaller: entries that are new at a release were zero before.
        """
        total = np.zeros(measured[-1].shape)
        for y, factor in zip(measured, self.recovery[: len(measured)][::-1], strict=True):
            total[tuple(slice(size) for size in y.shape)] += factor * y
        return total

    def deviation(self, release: int) -> float:
        """Return the noise of S_t in units of the noise of a single release; `release`: t >= 1."""
        return math.sqrt(self.squared_norm * float(np.sum(self.recovery[:release] ** 2)))
