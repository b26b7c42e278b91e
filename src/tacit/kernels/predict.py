"""Bulk prediction: the mean over posterior draws of the link, cell by cell.

theta = mu + x_u[0] + y_i[0] + sum_k>0 x_u[k] y_i[k]
linear link: theta          cells link: E[rating | theta], theta + sigma * normal cut into cells
"""

import math

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.dense import FAST

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Codes = NDArray[np.int32]


@njit(cache=True)
def expected(theta: float, levels: Doubles, sigma: float) -> float:
    """E[rating | theta] = top - sum_k (g_k+1 - g_k) Phi((c_k - theta) / sigma), c_k half way.

    `levels`: shape (L,).
    """
    total = levels[-1]
    for k in range(len(levels) - 1):
        cut = (levels[k] + levels[k + 1]) / 2
        below = 0.5 * math.erfc((theta - cut) / (sigma * math.sqrt(2.0)))
        total -= (levels[k + 1] - levels[k]) * below
    return total


@njit(parallel=True, cache=True, fastmath=FAST | {"reassoc"})
def predict(
    users: Codes, items: Codes, mu: Doubles, X: Floats, Y: Floats, levels: Doubles, sigma: float
) -> Floats:
    """Predicted ratings of the pairs (users[t], items[t]), clipped to the scale.

    `X`: shape (draws, people, 1 + K), `Y`: shape (draws, items, 1 + K), column 0 the bias. A code
    of -1 (unknown) stands for a row of zeros: an unknown person is the average person.
    `sigma` 0 asks for the linear link.
    """
    out = np.empty(len(users), np.float32)
    for t in prange(len(users)):
        u, i = users[t], items[t]
        total = 0.0
        for d in range(len(mu)):
            theta = mu[d]
            if u >= 0:
                theta += X[d, u, 0]
            if i >= 0:
                theta += Y[d, i, 0]
            if u >= 0 and i >= 0:
                for k in range(1, X.shape[2]):
                    theta += X[d, u, k] * Y[d, i, k]
            total += theta if sigma == 0 else expected(theta, levels, sigma)
        out[t] = min(max(total / len(mu), levels[0]), levels[-1])
    return out


@njit(parallel=True, cache=True)
def median(theta: Floats, levels: Doubles, sigma: float) -> Doubles:
    """The lowest level that a rating exceeds in half of all cases at most.

    `theta`: draws of each cell's taste, shape (draws, n); a rating is theta + sigma * normal, cut
    into cells half way between levels.
    """
    out = np.empty(theta.shape[1])
    for t in prange(theta.shape[1]):
        out[t] = levels[-1]
        for k in range(len(levels) - 1):
            cut, below = (levels[k] + levels[k + 1]) / 2, 0.0
            for d in range(len(theta)):
                below += 0.5 * math.erfc((theta[d, t] - cut) / (sigma * math.sqrt(2.0)))
            if 2 * below >= len(theta):
                out[t] = levels[k]
                break
    return out


@njit(parallel=True, cache=True, fastmath=FAST | {"reassoc"})
def bilinear(users: Codes, items: Codes, mu: float, X: Floats, Y: Floats) -> Floats:
    """theta of the pairs (users[t], items[t]) for one draw; column 0 of X and Y is the bias.

    `users` and `items`: shape (n,); X: (people, 1 + K), Y: (items, 1 + K).
    """
    theta = np.empty(len(users), np.float32)
    for t in prange(len(users)):
        x, y = X[users[t]], Y[items[t]]
        total = mu + x[0] + y[0]
        for k in range(1, len(x)):
            total += x[k] * y[k]
        theta[t] = total
    return theta
