"""Small dense algebra inside a compiled loop: no library call, no allocation.

A symmetric matrix lives in its lower triangle, row by row, and is factored *from its last row
up*: H = L'L with L lower triangular. Then every inner loop starts at column 0 and runs along a
row, which is what a compiler turns into vector instructions. Sizes must be even; pad with a unit
diagonal.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

FAST = {"contract", "nsz", "nnan", "ninf"}
BATCH = 8  # rows a rank update takes at once: one load of H then serves eight multiply-adds
LANES = 16  # float32 values in a 512-bit register

Matrix = NDArray[np.floating]
Vector = NDArray[np.floating]


@njit(cache=True, fastmath=FAST)
def rank_update(y: Matrix, H: Matrix, rows: int, sign: np.floating[Any]) -> None:
    """H[:rows] += sign * y' y on the lower triangle; y has shape (8, at least rows)."""
    for pair in range(rows // 2):
        k = 2 * pair
        a0, a1, a2, a3 = sign * y[0, k], sign * y[1, k], sign * y[2, k], sign * y[3, k]
        a4, a5, a6, a7 = sign * y[4, k], sign * y[5, k], sign * y[6, k], sign * y[7, k]
        k += 1
        b0, b1, b2, b3 = sign * y[0, k], sign * y[1, k], sign * y[2, k], sign * y[3, k]
        b4, b5, b6, b7 = sign * y[4, k], sign * y[5, k], sign * y[6, k], sign * y[7, k]
        for j in range(min(rows, (k // LANES + 1) * LANES)):
            y0, y1, y2, y3 = y[0, j], y[1, j], y[2, j], y[3, j]
            y4, y5, y6, y7 = y[4, j], y[5, j], y[6, j], y[7, j]
            even = a0 * y0 + a1 * y1 + a2 * y2 + a3 * y3 + a4 * y4 + a5 * y5 + a6 * y6 + a7 * y7
            odd = b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3 + b4 * y4 + b5 * y5 + b6 * y6 + b7 * y7
            H[2 * pair, j] += even
            H[2 * pair + 1, j] += odd


@njit(cache=True, fastmath=FAST)
def factor(H: Matrix, y: Matrix) -> None:
    """Replace the lower triangle of a positive definite H by L with H = L'L.

    `y`: work space of shape (8, K). Eight rows are finished at a time and then leave the rest
    in one rank update.
    """
    K = H.shape[0]
    for block in range((K + BATCH - 1) // BATCH):
        last = K - BATCH * block
        first = max(last - BATCH, 0)
        for b in range(last - first):
            k = last - 1 - b
            for c in range(b):
                pivot = y[c, k]
                for j in range(k + 1):
                    H[k, j] -= pivot * y[c, j]
            scale = y.dtype.type(1 / math.sqrt(max(H[k, k], 1e-12)))
            for j in range(k + 1):
                H[k, j] *= scale
                y[b, j] = H[k, j]
        if first > 0:
            rank_update(y, H, first, y.dtype.type(-1))


@njit(cache=True, fastmath=FAST)
def solve_transposed(L: Matrix, x: Vector) -> None:
    """Solve L' x = x in place."""
    for step in range(len(x)):
        k = len(x) - 1 - step
        x[k] /= L[k, k]
        known = x[k]
        for j in range(k):
            x[j] -= known * L[k, j]


@njit(cache=True, fastmath=FAST | {"reassoc"})
def solve_lower(L: Matrix, x: Vector) -> None:
    """Solve L x = x in place."""
    for k in range(len(x)):
        total = x[k]
        for j in range(k):
            total -= L[k, j] * x[j]
        x[k] = total / L[k, k]
