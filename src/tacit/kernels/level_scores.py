"""Scores of ratings under the cells link, from a lookup table.

In units of sigma the score is one smooth function of theta - level for the lowest level, one for
the highest, and one for all others. Each is tabulated as short polynomials, accurate to 1e-12 at a
fiftieth of the time of erfc, and small enough for the L1 cache.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
REACH, STEPS = 4, 16  # range of the table on either side of a level, in sigmas; pieces per sigma
PIECES, TERMS = 2 * REACH * STEPS, 6


class Cells(NamedTuple):
    """A cells link: evenly spaced `levels`, shape (L,), and `sigma` above 0.

    `table`: polynomial coefficients around the midpoint of each piece, constant first: for the
    lowest level, then for an inner one, then for the highest, shape (3 PIECES, TERMS).
    """

    levels: Doubles
    sigma: float
    table: Doubles


def cells_link(levels: Doubles, sigma: float) -> Cells:
    """Return the link with its table, which is empty for `sigma` 0 (linear link)."""
    if not sigma:
        return Cells(levels, sigma, np.empty((0, TERMS)))
    nodes = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS) / 2  # Chebyshev's, within 1/2
    table = np.empty((3 * PIECES, TERMS))
    _sample(levels, sigma, nodes, table)
    table[:] = table @ np.linalg.inv(np.vander(nodes, increasing=True)).T
    return Cells(levels, sigma, table)


@njit(cache=True)
def nearest_level(levels: Doubles, rating: float) -> int:
    """Return the index of the level nearest to a rating. `levels`: shape (L,)."""
    last = len(levels) - 1
    pace = (levels[last] - levels[0]) / last
    return min(max(math.floor((rating - levels[0]) / pace + 0.5), 0), last)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def level_scores(link: Cells, at: Longs, theta: Doubles, scores: Doubles) -> None:
    """Compute d log Pr(level `at` | theta) / d theta, into `scores`; all of shape (n,).

    The loop has no branch, so that it is vectorized.
    """
    last, far, pace = len(link.levels) - 1, 0, STEPS / link.sigma
    for t in range(len(at)):
        position = (theta[t] - link.levels[at[t]]) * pace + REACH * STEPS
        within = 0 <= position < PIECES
        far |= not within
        position = position if within else 0.0
        g = np.int64(position)
        x = position - g - 0.5
        kind = np.int64(at[t] > 0) + np.int64(at[t] == last)
        c = link.table[np.uint64(g + kind * PIECES)]
        scores[t] = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))))
    if far:
        _score_far(link, at, theta, scores)


@njit(cache=True)
def _score_far(link: Cells, at: Longs, theta: Doubles, scores: Doubles) -> None:
    """Compute the scores of thetas outside the table."""
    for t in range(len(at)):
        if not abs(theta[t] - link.levels[at[t]]) < (REACH - 1 / STEPS) * link.sigma:
            scores[t] = _exact(link.levels, link.sigma, at[t], theta[t])


@njit(cache=True)
def _sample(levels: Doubles, sigma: float, nodes: Doubles, values: Doubles) -> None:
    last = len(levels) - 1
    for kind, at in enumerate((0, min(1, last), last)):
        for g in range(PIECES):
            for j in range(TERMS):
                away = (g + 0.5 + nodes[j]) / STEPS - REACH
                values[kind * PIECES + g, j] = _exact(levels, sigma, at, levels[at] + away * sigma)


@njit(cache=True)
def _exact(levels: Doubles, sigma: float, at: int, theta: float) -> float:
    """Return the score by its formula; the outermost cells extend to infinity."""
    last = len(levels) - 1
    half = (levels[last] - levels[0]) / last / 2
    low, high = (levels[at] - half - theta) / sigma, (levels[at] + half - theta) / sigma
    below, rise = (0.0, 0.0) if at == 0 else (_mass(low), _density(low))
    above, fall = (1.0, 0.0) if at == last else (_mass(high), _density(high))
    return (rise - fall) / (sigma * max(above - below, 1e-12))


@njit(cache=True)
def _mass(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@njit(cache=True)
def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
