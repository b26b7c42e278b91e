"""Product of two sparse matrices, added to dense scores: item-item weights of users' items."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float32]


def add_product(rows: csr_array, weights: csr_array, scores: Floats) -> None:
    """Add rows @ weights to `scores`, shape (rows, columns of the weights)."""
    left, right = (side.astype(np.float32, copy=False) for side in (rows, weights))
    _add_product(
        left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, scores
    )


@njit(parallel=True, cache=True)
def _add_product(
    start: NDArray[np.int32],
    item: NDArray[np.int32],
    x: Floats,
    first: NDArray[np.int32],
    other: NDArray[np.int32],
    weight: Floats,
    scores: Floats,
) -> None:
    for row in prange(len(scores)):
        mine = scores[row]
        for t in range(start[row], start[row + 1]):
            for s in range(first[item[t]], first[item[t] + 1]):
                mine[other[s]] += x[t] * weight[s]
