"""A sparse matrix of ones times numbers or a dense one: sums over rows' cells, on all cores.

Cells are added one after another, so that digits do not depend on the cores or on how rows are cut.
"""

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.layout import even_pieces

Array = NDArray[Any]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


def row_sums(start: Longs, column: Ints, x: Array) -> Array:
    """Of each row, the sum of the rows of `x` in whose columns it has a cell.

    Row r has cells in the columns `column[start[r] : start[r + 1]]`. `x`: float32 or float64,
    shape (columns,) or (columns, K). Shape (rows,) or (rows, K), of the same kind.
    """
    x = np.ascontiguousarray(x)
    sums = np.zeros((len(start) - 1, *x.shape[1:]), x.dtype)
    add = _add_numbers if x.ndim == 1 else _add_rows
    add(start, column, x, even_pieces(start, get_num_threads()), sums)
    return sums


@njit(parallel=True, cache=True)
def _add_numbers(start: Longs, column: Ints, x: Array, pieces: Longs, sums: Array) -> None:
    for piece in prange(len(pieces) - 1):
        for row in range(pieces[piece], pieces[piece + 1]):
            total = sums[row]
            for t in range(start[row], start[row + 1]):
                total += x[column[t]]
            sums[row] = total


@njit(parallel=True, cache=True)
def _add_rows(start: Longs, column: Ints, x: Array, pieces: Longs, sums: Array) -> None:
    for piece in prange(len(pieces) - 1):
        for row in range(pieces[piece], pieces[piece + 1]):
            mine = sums[row]
            for t in range(start[row], start[row + 1]):
                other = x[column[t]]
                for k in range(len(mine)):
                    mine[k] += other[k]
