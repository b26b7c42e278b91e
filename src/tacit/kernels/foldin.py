"""The device's own solve for many people at once: the bulk twin of `tacit.device.profile`.

Kept in double precision and in the same order of steps, so that both agree to 1e-9.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
ROUNDS = 8  # of the cells link: the step halves the distance four times over in each


class Home(NamedTuple):
    """One draw of the item side, and every person's prior.

    `items`: shape (items, 1 + K), bias first. `precision`: shape (1 + K,). `prior`: shape
    (people, 1 + K). `sigma` 0 asks for the linear link, whose noise has unit variance.
    `shrinkage`: what a rating of each item adds to the precision of factors, shape (items,), or
    empty for nothing.
    """

    mu: float
    items: Floats
    precision: Doubles
    prior: Doubles
    levels: Doubles
    sigma: float
    shrinkage: Floats = np.empty(0, np.float32)


def fold_in(side: Side, ratings: Doubles, home: Home) -> Doubles:
    """Every person's row from their own true ratings, shape (people, 1 + K).

    Maximises sum_i log Pr(rating_i | theta_ui) - (x - prior)' diag(precision) (x - prior) / 2.
    Linear link: one ridge solve. Cells link: working targets E[theta + sigma e | rating] with
    constant weight 1 / sigma^2, which climb without step sizes. `ratings`: shape (n,), in the
    order of `side`.
    """
    rows = home.prior.copy()
    _fold_rows(side, ratings, home, rows)
    return rows


@njit(parallel=True, cache=True)
def _fold_rows(side: Side, ratings: Doubles, home: Home, rows: Doubles) -> None:
    weight = 1.0 if home.sigma == 0 else 1 / home.sigma**2
    for r in prange(len(rows)):
        cells = slice(side.start[r], side.start[r + 1])
        own, other, x = ratings[cells], side.other[cells], rows[r]
        precision = home.precision.copy()
        if len(home.shrinkage):
            precision[1:] += _sum_at(home.shrinkage, other)
        H = np.diag(precision)
        y = np.ones(len(x))
        for t in range(len(own)):
            y[1:] = home.items[other[t], 1:]
            for k in range(len(x)):
                for j in range(k + 1):
                    H[k, j] += weight * y[k] * y[j]
        cholesky(H)
        for _ in range(1 if home.sigma == 0 else ROUNDS):
            step = precision * (home.prior[r] - x)
            _add_scores(own, other, home, x, y, step)
            solve(H, step)
            x += step


@njit(cache=True)
def _sum_at(numbers: Floats, places: NDArray[np.int32]) -> float:
    total = 0.0
    for place in places:
        total += float(numbers[place])
    return total


@njit(cache=True)
def _add_scores(
    own: Doubles, other: NDArray[np.int32], home: Home, x: Doubles, y: Doubles, step: Doubles
) -> None:
    for t in range(len(own)):
        y[1:] = home.items[other[t], 1:]
        theta = home.mu + home.items[other[t], 0]
        for k in range(len(x)):
            theta += x[k] * y[k]
        if home.sigma == 0:
            score = own[t] - theta
        else:
            score = level_score(theta, own[t], home.levels, home.sigma)
        for k in range(len(x)):
            step[k] += score * y[k]


@njit(cache=True)
def level_score(theta: float, rating: float, levels: Doubles, sigma: float) -> float:
    """d log Pr(rating | theta) / d theta for the level nearest to `rating`.

    `levels`: shape (L,).
    """
    L = len(levels)
    pace = (levels[-1] - levels[0]) / (L - 1)
    at = min(max(math.floor((rating - levels[0]) / pace + 0.5), 0), L - 1)
    low, high = (levels[at] - pace / 2 - theta) / sigma, (levels[at] + pace / 2 - theta) / sigma
    below, rise = (0.0, 0.0) if at == 0 else (_mass(low), _density(low))
    above, fall = (1.0, 0.0) if at == L - 1 else (_mass(high), _density(high))
    return (rise - fall) / (sigma * max(above - below, 1e-12))


@njit(cache=True)
def _mass(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@njit(cache=True)
def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@njit(cache=True)
def cholesky(H: Doubles) -> None:
    """The lower factor of a symmetric H, shape (n, n), in its place."""
    for k in range(len(H)):
        for j in range(k + 1):
            total = H[k, j]
            for c in range(j):
                total -= H[k, c] * H[j, c]
            H[k, j] = math.sqrt(total) if k == j else total / H[j, j]


@njit(cache=True)
def solve(L: Doubles, x: Doubles) -> None:
    """x of L L' x = the given x, shape (n,), in its place."""
    for k in range(len(x)):
        for j in range(k):
            x[k] -= L[k, j] * x[j]
        x[k] /= L[k, k]
    for k in range(len(x) - 1, -1, -1):
        for j in range(k + 1, len(x)):
            x[k] -= L[j, k] * x[j]
        x[k] /= L[k, k]
