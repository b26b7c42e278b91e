"""A sparse matrix of equal entries times a dense one: sums of rows, on all cores."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float32]


def row_sums(cells: csr_array, x: Floats) -> Floats:
    """Of each row of `cells`, the sum of the rows of `x` in whose columns it has a cell.

    `cells`: shape (m, n), whatever its entries are. `x`: shape (n, K). Shape (m, K).
    """
    sums = np.zeros((cells.shape[0], x.shape[1]), np.float32)
    _add(cells.indptr, cells.indices, np.ascontiguousarray(x, np.float32), sums)
    return sums


@njit(parallel=True, cache=True, fastmath={"contract"})
def _add(start: NDArray[np.int32], column: NDArray[np.int32], x: Floats, sums: Floats) -> None:
    for row in prange(len(sums)):
        mine = sums[row]
        for t in range(start[row], start[row + 1]):
            other = x[column[t]]
            for k in range(len(mine)):
                mine[k] += other[k]
