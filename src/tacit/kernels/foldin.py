"""The device's own solve for many people at once: the bulk twin of `tacit.device.profile`.

Kept in double precision and in the same order of steps, so that both agree to 1e-9.
"""

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
ROUNDS = 8  # of the cells link: the step halves the distance four times over in each


def fold_in(
    side: Side,
    ratings: Doubles,
    mu: float,
    items: Floats,
    precision: Doubles,
    prior: Doubles,
    levels: Doubles,
    sigma: float,
) -> Doubles:
    """Every person's row from her own true ratings, given one draw of the item side.

    Maximises sum_i log Pr(rating_i | theta_ui) - (x - prior)' diag(precision) (x - prior) / 2.
    Linear link (`sigma` 0): one ridge solve. Cells link: working targets
    E[theta + sigma e | rating] with constant weight 1 / sigma^2, which climb without step sizes.
    `ratings`: shape (n,), in the order of `side`. `items`: shape (items, 1 + K). `prior`: shape
    (people, 1 + K). Returns shape (people, 1 + K).
    """
    rows = prior.copy()
    _fold_rows(side.start, side.other, ratings, mu, items, precision, prior, levels, sigma, rows)
    return rows


@nb.njit(parallel=True, cache=True)
def _fold_rows(  # type: ignore[no-untyped-def]
    start, other, ratings, mu, items, precision, prior, levels, sigma, rows
):
    W = items.shape[1]
    weight = 1.0 if sigma == 0 else 1 / sigma**2
    for r in nb.prange(len(rows)):
        x = rows[r]
        H = np.diag(precision)
        y = np.ones(W)
        for t in range(start[r], start[r + 1]):
            y[1:] = items[other[t], 1:]
            for k in range(W):
                for j in range(k + 1):
                    H[k, j] += weight * y[k] * y[j]
        _cholesky(H)
        for _ in range(1 if sigma == 0 else ROUNDS):
            step = -precision * (x - prior[r])
            for t in range(start[r], start[r + 1]):
                y[1:] = items[other[t], 1:]
                theta = mu + items[other[t], 0]
                for k in range(W):
                    theta += x[k] * y[k]
                score = weight * (ratings[t] - theta)
                if sigma > 0:
                    score = cell_score(theta, ratings[t], levels, sigma)
                for k in range(W):
                    step[k] += score * y[k]
            _solve(H, step)
            x += step


@nb.njit(cache=True)
def cell_score(theta: float, rating: float, levels: Doubles, sigma: float) -> float:
    """d log Pr(rating | theta) / d theta for the level nearest to `rating`."""
    L = len(levels)
    pace = (levels[-1] - levels[0]) / (L - 1)
    at = min(max(math.floor((rating - levels[0]) / pace + 0.5), 0), L - 1)
    low, high = (levels[at] - pace / 2 - theta) / sigma, (levels[at] + pace / 2 - theta) / sigma
    below, rise = (0.0, 0.0) if at == 0 else (_mass(low), _density(low))
    above, fall = (1.0, 0.0) if at == L - 1 else (_mass(high), _density(high))
    return (rise - fall) / (sigma * max(above - below, 1e-12))


@nb.njit(cache=True)
def _mass(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@nb.njit(cache=True)
def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@nb.njit(cache=True)
def _cholesky(H):  # type: ignore[no-untyped-def]
    for k in range(len(H)):
        for j in range(k + 1):
            total = H[k, j]
            for c in range(j):
                total -= H[k, c] * H[j, c]
            H[k, j] = math.sqrt(total) if k == j else total / H[j, j]


@nb.njit(cache=True)
def _solve(L, x):  # type: ignore[no-untyped-def]
    for k in range(len(x)):
        for j in range(k):
            x[k] -= L[k, j] * x[j]
        x[k] /= L[k, k]
    for k in range(len(x) - 1, -1, -1):
        for j in range(k + 1, len(x)):
            x[k] -= L[j, k] * x[j]
        x[k] /= L[k, k]
