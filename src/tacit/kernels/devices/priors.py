"""Prior means of people's rows: features times weights, row by row and always in one order."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


@njit(parallel=True, cache=True, fastmath={"contract"})
def prior_means(features: Doubles, weights: Doubles) -> Doubles:
    """features @ weights, shapes (people, F) and (F, 1 + K).

    A row's digits depend on that row alone; a library's product may sum otherwise for another
    number of rows.
    """
    means = np.zeros((len(features), weights.shape[1]))
    for row in prange(len(features)):
        mine = means[row]
        for f in range(len(weights)):
            for k in range(len(mine)):
                mine[k] += features[row, f] * weights[f, k]
    return means
