"""Small dense algebra inside compiled loops, without library calls and allocations.

A symmetric matrix is stored in its lower triangle, row by row, and factored *from its last row up*:
H = L'L with L lower triangular. Then every inner loop starts at column 0 and runs along a row, in
whole vectors. So a matrix of size K has `padded(K)` columns, and for K up to the next multiple of
`BLOCK` rows. Entries outside the lower triangle are scratch.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.tile import LANES, scale, tile

FAST = {"contract", "nsz", "nnan", "ninf"}
BLOCK = 8  # rows per step of products and of the factorization

Matrix = NDArray[np.floating[Any]]
Vector = NDArray[np.floating[Any]]

_block_two = tile(BLOCK, 2)
_block_one = tile(BLOCK, 1)
_row_four, _row_three, _row_two, _row_one = (tile(1, wide) for wide in (4, 3, 2, 1))


@njit(cache=True)
def padded(K: int) -> int:
    """Round K up to whole vectors."""
    return (K + LANES - 1) // LANES * LANES


@njit(cache=True, fastmath=FAST)
def add_gram(H: Matrix, K: int, sign: float, y: Matrix, n: int) -> None:
    """Compute H[:K, :K] += sign y[:n]' y[:n], lower triangle.

    Shapes: H (K or more, K or more), y (n or more, K or more).
    """
    for k in range(0, K, BLOCK):
        end = k // (2 * LANES) * 2 * LANES
        for j in range(0, end, 2 * LANES):
            _block_two(H, k, j, sign, y, k, y, j, n)
        if k - end < LANES:
            _block_one(H, k, end, sign, y, k, y, end, n)
        else:
            _block_two(H, k, end, sign, y, k, y, end, n)


@njit(cache=True, fastmath=FAST)
def add_rows(
    x: Matrix, k: int, K: int, sign: float, pull: Matrix, i: int, y: Matrix, n: int
) -> None:
    """Compute x[k, :K] += sign pull[:n, i]' y[:n].

    Shapes: x (more than k, K or more), `pull` (n or more, more than i), y (n or more, K or more).
    """
    vectors = padded(K) // LANES
    end = vectors // 4 * 4 * LANES
    for j in range(0, end, 4 * LANES):
        _row_four(x, k, j, sign, pull, i, y, j, n)
    if vectors % 4 == 3:
        _row_three(x, k, end, sign, pull, i, y, end, n)
    elif vectors % 4 == 2:
        _row_two(x, k, end, sign, pull, i, y, end, n)
    elif vectors % 4 == 1:
        _row_one(x, k, end, sign, pull, i, y, end, n)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def factor(H: Matrix, K: int) -> None:
    """Replace the lower triangle of a positive definite H[:K, :K] by L with H = L'L.

    `BLOCK` rows are factored at a time and then subtracted from the rest. Square roots are taken
    last, so they do not delay each other. Both dimensions of H are at least K.
    """
    last, one, least = K, H.dtype.type(1), H.dtype.type(1e-12)
    while last > 0:
        first = (last - 1) // BLOCK * BLOCK
        for k in range(last - 1, first, -1):
            pivot = one / max(H[k, k], least)
            for i in range(first, k):
                share = H[k, i] * pivot
                for j in range(i + 1):
                    H[i, j] -= share * H[k, j]
        for k in range(first, last):
            scale(H, k, one / np.sqrt(max(H[k, k], least)), H, k, k // LANES + 1)
        add_gram(H, first, -1.0, H[first:last], last - first)
        last = first


@njit(cache=True, error_model="numpy", fastmath=FAST)
def solve_transposed(L: Matrix, x: Vector) -> None:
    """Solve L' x = x in place. `x`: shape (n,)."""
    for step in range(len(x)):
        k = len(x) - 1 - step
        x[k] /= L[k, k]
        known = x[k]
        for j in range(k):
            x[j] -= known * L[k, j]


@njit(cache=True, error_model="numpy", fastmath=FAST | {"reassoc"})
def solve_lower(L: Matrix, x: Vector) -> None:
    """Solve L x = x in place. `x`: shape (n,)."""
    for k in range(len(x)):
        total = x[k]
        for j in range(k):
            total -= L[k, j] * x[j]
        x[k] = total / L[k, k]
