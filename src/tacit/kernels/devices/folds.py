"""Rows of users fitted without one fold of their ratings, for each fold."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.dense import factor, padded, solve_lower, solve_transposed
from tacit.kernels.layout import Ints, Side

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]


def fold_of(side: Side, folds: int) -> Longs:
    """Return the fold of each rating, its position in the profile modulo `folds`; shape (n,)."""
    first = np.repeat(side.start[:-1], side.counts)
    return (np.arange(len(side.other)) - first) % folds


def rows_without_fold(
    side: Side, targets: Doubles, items: Doubles, precision: Doubles, folds: int
) -> Doubles:
    """Return ridge rows (level, factors) fitted without one fold, shape (users x folds, 1 + K).

    Row u F + f minimises sum_j (targets_uj - x . (1, items_j))^2 + x' diag(precision) x over the
    ratings of u outside fold f. `targets`: shape (n,), in the order of `side`. `items`: shape
    (items, K). `precision`: shape (1 + K,), above 0.
    """
    rows = np.zeros((folds * (len(side.start) - 1), len(precision)))
    _solve_without(side, targets, np.ascontiguousarray(items), precision, folds, rows)
    return rows


@njit(parallel=True, cache=True)
def _solve_without(
    side: Side, targets: Doubles, items: Doubles, precision: Doubles, folds: int, rows: Doubles
) -> None:
    width = len(precision)
    for u in prange(len(side.start) - 1):
        first, last = side.start[u], side.start[u + 1]
        H = np.zeros((folds, padded(width), padded(width)))
        g = np.zeros((folds, width))
        _add_ratings(side.other[first:last], targets[first:last], items, H, g)
        all_H, all_g = H.sum(axis=0), g.sum(axis=0)
        for k in range(width):
            all_H[k, k] += precision[k]
        for f in range(min(folds, last - first)):
            rest, x = all_H - H[f], all_g - g[f]
            factor(rest, width)
            solve_transposed(rest, x)
            solve_lower(rest, x)
            rows[u * folds + f] = x


@njit(cache=True)
def _add_ratings(other: Ints, targets: Doubles, items: Doubles, H: Doubles, g: Doubles) -> None:
    y = np.ones(g.shape[1])
    for t in range(len(other)):
        f = t % len(g)
        y[1:] = items[other[t]]
        for k in range(len(y)):
            g[f, k] += y[k] * targets[t]
            for j in range(k + 1):
                H[f, k, j] += y[k] * y[j]
