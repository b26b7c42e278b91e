"""The two halves of a normal equation, row by row: Gram matrices, and exact integer sums."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@njit(parallel=True, cache=True)
def grams(side: Side, design: Doubles) -> Doubles:
    """sum_c y_c y_c' over the cells of each row; `design` (columns, K) to (rows, K, K)."""
    K = design.shape[1]
    found = np.zeros((len(side.start) - 1, K, K))
    for row in prange(len(found)):
        for place in range(side.start[row], side.start[row + 1]):
            y = design[side.other[place]]
            for a in range(K):
                for b in range(a + 1):
                    found[row, a, b] += y[a] * y[b]
        for a in range(K):
            for b in range(a):
                found[row, b, a] = found[row, a, b]
    return found


@njit(parallel=True, cache=True)
def integer_sums(side: Side, design: Ints, values: Ints) -> Ints:
    """sum_c value_c y_c over the cells of each row, in integers; (rows, K).

    `values`: canonical cell order. Integers make the sum the same in any order.
    """
    found = np.zeros((len(side.start) - 1, design.shape[1]), np.int64)
    for row in prange(len(found)):
        for place in range(side.start[row], side.start[row + 1]):
            value = values[side.cell[place]]
            y = design[side.other[place]]
            for a in range(design.shape[1]):
                found[row, a] += value * y[a]
    return found
