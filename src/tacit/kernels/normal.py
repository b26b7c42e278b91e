"""Normal equations, row by row: Gram matrices, and exact integer right-hand sides."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]


@njit(parallel=True, cache=True)
def grams(side: Side, design: Doubles) -> Doubles:
    """Return sum_c y_c y_c' over the cells of each row; `design` (columns, K) to (rows, K, K)."""
    K = design.shape[1]
    matrices = np.zeros((len(side.start) - 1, K, K))
    for row in prange(len(matrices)):
        for position in range(side.start[row], side.start[row + 1]):
            y = design[side.other[position]]
            for a in range(K):
                for b in range(a + 1):
                    matrices[row, a, b] += y[a] * y[b]
        for a in range(K):
            for b in range(a):
                matrices[row, b, a] = matrices[row, a, b]
    return matrices


@njit(parallel=True, cache=True)
def integer_sums(side: Side, design: Longs, values: Longs) -> Longs:
    """Return sum_c value_c y_c over the cells of each row, in integers; (rows, K).

    `values`: canonical cell order. Integer sums are identical in any order.
    """
    totals = np.zeros((len(side.start) - 1, design.shape[1]), np.int64)
    for row in prange(len(totals)):
        for position in range(side.start[row], side.start[row + 1]):
            value = values[side.cell[position]]
            y = design[side.other[position]]
            for a in range(design.shape[1]):
                totals[row, a] += value * y[a]
    return totals


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
