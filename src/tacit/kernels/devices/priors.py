"""Prior means of user rows: features times weights, with a fixed order of summation."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


@njit(parallel=True, cache=True, fastmath={"contract"})
def prior_means(features: Doubles, weights: Doubles) -> Doubles:
    """Return features @ weights, shapes (users, F) and (F, 1 + K).

    A row's result depends on that row alone; a library's product may sum in another order for
    another number of rows.
    """
    means = np.zeros((len(features), weights.shape[1]))
    for row in prange(len(features)):
        mine = means[row]
        for f in range(len(weights)):
            for k in range(len(mine)):
                mine[k] += features[row, f] * weights[f, k]
    return means
