"""Exact integer sums over users, by item: the totals of noisy releases."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]


def weighted_sums(items: Side, weights: Ints, rows: Ints) -> Longs:
    """Return sum over cells (u, j) of weights[cell] * rows[u], shape (items, D), in int64.

    `weights`: canonical cell order, shape (n,). `rows`: shape (users, D). Integer sums are
    identical in any order; nothing overflows while each product stays below 2^62 / users.
    """
    sums = np.zeros((len(items.start) - 1, rows.shape[1]), np.int64)
    _add(items, weights, rows, sums)
    return sums


@njit(parallel=True, cache=True)
def _add(items: Side, weights: Ints, rows: Ints, sums: Longs) -> None:
    for j in prange(len(sums)):
        for t in range(items.start[j], items.start[j + 1]):
            weight, row = np.int64(weights[items.cell[t]]), items.other[t]
            for d in range(rows.shape[1]):
                sums[j, d] += weight * rows[row, d]
