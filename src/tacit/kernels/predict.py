"""Bulk prediction: the mean over posterior draws of the link, cell by cell.

theta = mu + x_u[0] + y_i[0] + sum_k>0 x_u[k] y_i[k]
linear link: theta          cells link: E[rating | theta], theta + sigma * normal cut into cells

    E[rating | theta] = top - sum_k (g_k+1 - g_k) Phi((c_k - theta) / sigma),   c_k half way

is a curve of one number, the same for every cell and draw: a table with straight lines between its
places has it, where an error function for each level took nine tenths of all time.
"""

import math

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.special import ndtr

from tacit.kernels.dense import FAST

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Codes = NDArray[np.int32]

STEPS = 512
"""Places of the table to a sigma."""
REACH = 8
"""Sigmas beyond the outermost cuts, from where the curve is flat."""


def tabled(levels: Doubles, sigma: float) -> Doubles:
    """E[rating | theta] at `STEPS` places to a sigma, `REACH` sigmas beyond the outermost cuts.

    Between two places a straight line is off by h^2 / 8 of the second derivative at most: 2e-7 of
    sigma, or of the widest gap between levels where that is more. `levels`: shape (L,). Shape
    (places,).
    """
    cuts = (levels[1:] + levels[:-1]) / 2
    places = math.ceil((cuts[-1] - cuts[0]) / sigma * STEPS) + 2 * REACH * STEPS + 2
    thetas = cuts[0] + (np.arange(places, dtype=np.float64) / STEPS - REACH) * sigma
    below = np.asarray(ndtr((cuts[:, None] - thetas) / sigma), np.float64)
    return np.asarray(levels[-1] - np.diff(levels) @ below, np.float64)


@njit(cache=True, fastmath=FAST)
def looked_up(theta: float, table: Doubles, first: float, per: float) -> float:
    """The line of `table` at theta; its places begin at `first`, `per` of them to one."""
    place = min(max((theta - first) * per, 0.0), len(table) - 1.001)
    left = int(place)
    return table[left] + (place - left) * (table[left + 1] - table[left])


def predict(
    users: Codes, items: Codes, mu: Doubles, X: Floats, Y: Floats, levels: Doubles, sigma: float
) -> Floats:
    """Predicted ratings of the pairs (users[t], items[t]), clipped to the scale.

    `X`: shape (draws, people, 1 + K), `Y`: shape (draws, items, 1 + K), column 0 the bias. A code
    of -1 (unknown) stands for a row of zeros: an unknown person is the average person.
    `sigma` 0 asks for the linear link.
    """
    ends = (float(levels[0]), float(levels[-1]))
    if sigma == 0:
        return _predict(users, items, mu, X, Y, ends, np.zeros(0), 0.0, 0.0)
    first = float(levels[0] + levels[1]) / 2 - REACH * sigma
    return _predict(users, items, mu, X, Y, ends, tabled(levels, sigma), first, STEPS / sigma)


@njit(parallel=True, cache=True, fastmath=FAST | {"reassoc"})
def _predict(
    users: Codes,
    items: Codes,
    mu: Doubles,
    X: Floats,
    Y: Floats,
    ends: tuple[float, float],
    table: Doubles,
    first: float,
    per: float,
) -> Floats:
    """As `predict`; an empty `table` asks for the linear link."""
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
            total += looked_up(theta, table, first, per) if len(table) else theta
        out[t] = min(max(total / len(mu), ends[0]), ends[1])
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
