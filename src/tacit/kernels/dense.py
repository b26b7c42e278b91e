"""Small dense algebra inside a compiled loop: no library call, no allocation.

A symmetric matrix lives in its lower triangle, row by row, and is factored *from its last row
up*: H = L'L with L lower triangular. Then every inner loop starts at column 0 and runs along a
row, which is what a compiler turns into vector instructions. Work space is `padded` to whole
vector registers; what lies beyond the matrix is scratch.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.tile import LANES, add_gram

FAST = {"contract", "nsz", "nnan", "ninf"}
BATCH = 8  # rows that a Gram matrix takes at once

Floats = NDArray[np.float32]


def padded(K: int) -> int:
    """K rounded up to whole vector registers."""
    return -(-K // LANES) * LANES


@njit(cache=True, fastmath=FAST)
def factor(H: Floats, y: Floats, z: Floats, K: int) -> None:
    """Replace the lower triangle of the positive definite H[:K, :K] by L with H = L'L.

    `y`, `z`: work space of shape (8, padded K). Eight rows are finished at a time and then leave
    the rest in one Gram update.
    """
    for block in range((K + BATCH - 1) // BATCH):
        first = BATCH * ((K - 1) // BATCH - block)
        last = min(first + BATCH, K)
        y[last - first :] = 0
        for b in range(last - first):
            k = last - 1 - b
            for c in range(b):
                pivot = y[c, k]
                for j in range(k + 1):
                    H[k, j] -= pivot * y[c, j]
            scale = np.float32(1 / math.sqrt(max(H[k, k], np.float32(1e-12))))
            for j in range(k + 1):
                H[k, j] *= scale
                y[b, j] = H[k, j]
        if first > 0:
            z[:] = -y
            add_gram(z, y, H, first)


@njit(cache=True, fastmath=FAST)
def solve_transposed(L: Floats, x: Floats) -> None:
    """Solve L' x = x in place; L may be larger than x."""
    for step in range(len(x)):
        k = len(x) - 1 - step
        x[k] /= L[k, k]
        known = x[k]
        for j in range(k):
            x[j] -= known * L[k, j]


@njit(cache=True, fastmath=FAST | {"reassoc"})
def solve_lower(L: Floats, x: Floats) -> None:
    """Solve L x = x in place; L may be larger than x."""
    for k in range(len(x)):
        total = x[k]
        for j in range(k):
            total -= L[k, j] * x[j]
        x[k] = total / L[k, k]
