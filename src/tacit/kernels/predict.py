"""Bulk prediction: the mean over posterior draws of the link, cell by cell.

theta = mu + x_u[0] + y_i[0] + sum_k>0 x_u[k] y_i[k] linear link: theta          cells link:
E[rating | theta], theta + sigma * normal cut into cells

    E[rating | theta] = top - sum_k (g_k+1 - g_k) Phi((c_k - theta) / sigma),   c_k midpoints

is a function of one number, the same for every cell and draw. It is tabulated with linear
interpolation; an error function per level took nine tenths of the time.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import ndtr

from tacit.kernels import Longs, equal_pieces, over_pieces
from tacit.kernels.dense import FAST

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Codes = NDArray[np.int32]

STEPS = 512
"""Table points per sigma."""
REACH = 8
"""Range of the table beyond the outermost cuts, in sigmas, where the function is flat."""


def tabled(levels: Doubles, sigma: float) -> Doubles:
    """Tabulate E[rating | theta] at `STEPS` points per sigma, `REACH` sigmas beyond the cuts.

    The error of linear interpolation is at most h^2 / 8 of the second derivative: 2e-7 of sigma, or
    of the widest gap between levels if larger. `levels`: shape (L,). Shape (points,).
    """
    cuts = (levels[1:] + levels[:-1]) / 2
    points = math.ceil((cuts[-1] - cuts[0]) / sigma * STEPS) + 2 * REACH * STEPS + 2
    thetas = cuts[0] + (np.arange(points, dtype=np.float64) / STEPS - REACH) * sigma
    below = np.asarray(ndtr((cuts[:, None] - thetas) / sigma), np.float64)
    return np.asarray(levels[-1] - np.diff(levels) @ below, np.float64)


@njit(cache=True, fastmath=FAST)
def looked_up(theta: float, table: Doubles, first: float, per: float) -> float:
    """Interpolate `table` at theta; its first point is `first`, with `per` points per unit."""
    position = min(max((theta - first) * per, 0.0), len(table) - 1.001)
    left = int(position)
    return table[left] + (position - left) * (table[left + 1] - table[left])


def predict(
    users: Codes, items: Codes, mu: Doubles, X: Floats, Y: Floats, levels: Doubles, sigma: float
) -> Floats:
    """Return predicted ratings of the pairs (users[t], items[t]), clipped to the scale.

    `X`: shape (draws, users, 1 + K), `Y`: shape (draws, items, 1 + K), column 0 the bias. A code of
    -1 (unknown) stands for a row of zeros: an unknown user is the average user. `sigma`: 0 for the
    linear link.
    """
    ends, out = (float(levels[0]), float(levels[-1])), np.empty(len(users), np.float32)
    table, first, per = np.zeros(0), 0.0, 0.0
    if sigma:
        first = float(levels[0] + levels[1]) / 2 - REACH * sigma
        table, per = tabled(levels, sigma), STEPS / sigma
    pieces = equal_pieces(len(users), X.shape[0] * X.shape[2])
    over_pieces(_predict, pieces, users, items, mu, X, Y, ends, table, first, per, out)
    return out


@njit(nogil=True, cache=True, fastmath=FAST | {"reassoc"})
def _predict(
    piece: int,
    pieces: Longs,
    users: Codes,
    items: Codes,
    mu: Doubles,
    X: Floats,
    Y: Floats,
    ends: tuple[float, float],
    table: Doubles,
    first: float,
    per: float,
    out: Floats,
) -> None:
    """Compute `predict`; an empty `table` means the linear link."""
    for t in range(pieces[piece], pieces[piece + 1]):
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


def median(theta: Floats, levels: Doubles, sigma: float) -> Doubles:
    """Return the lowest level that a rating exceeds with probability at most 1/2.

    `theta`: draws of each cell's theta, shape (draws, n); a rating is theta + sigma * normal, cut
    into cells at midpoints between levels.
    """
    out, pieces = np.empty(theta.shape[1]), equal_pieces(theta.shape[1], theta.shape[0])
    over_pieces(_median, pieces, theta, levels, sigma, out)
    return out


@njit(nogil=True, cache=True)
def _median(
    piece: int, pieces: Longs, theta: Floats, levels: Doubles, sigma: float, out: Doubles
) -> None:
    for t in range(pieces[piece], pieces[piece + 1]):
        out[t] = levels[-1]
        for k in range(len(levels) - 1):
            cut, below = (levels[k] + levels[k + 1]) / 2, 0.0
            for d in range(len(theta)):
                below += 0.5 * math.erfc((theta[d, t] - cut) / (sigma * math.sqrt(2.0)))
            if 2 * below >= len(theta):
                out[t] = levels[k]
                break


def bilinear(users: Codes, items: Codes, mu: float, X: Floats, Y: Floats) -> Floats:
    """Return theta of the pairs (users[t], items[t]) for one draw; column 0 of X and Y is the bias.

    `users` and `items`: shape (n,); X: (users, 1 + K), Y: (items, 1 + K).
    """
    theta, pieces = np.empty(len(users), np.float32), equal_pieces(len(users), X.shape[1])
    over_pieces(_bilinear, pieces, users, items, mu, X, Y, theta)
    return theta


@njit(nogil=True, cache=True, fastmath=FAST | {"reassoc"})
def _bilinear(
    piece: int,
    pieces: Longs,
    users: Codes,
    items: Codes,
    mu: float,
    X: Floats,
    Y: Floats,
    theta: Floats,
) -> None:
    for t in range(pieces[piece], pieces[piece + 1]):
        x, y = X[users[t]], Y[items[t]]
        total = mu + x[0] + y[0]
        for k in range(1, len(x)):
            total += x[k] * y[k]
        theta[t] = total
