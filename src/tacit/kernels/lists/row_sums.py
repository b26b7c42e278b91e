"""Products of a binary sparse matrix: sums over the cells of each row, on all cores.

Cells are added in order, so results do not depend on the cores or on the division of rows.
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
    """Return, for each row, the sum of the rows of `x` at the columns of its cells.

    Row r has cells in the columns `column[start[r] : start[r + 1]]`. `x`: float32 or float64, shape
    (columns,) or (columns, K). Shape (rows,) or (rows, K), of the same type.
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
