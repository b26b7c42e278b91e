"""Relations between items by their factors: similar items, and ratings that explain a prediction.

Over users with a rating model's prior, x ~ N(0, 1/p), the ratings of two items covary by

    cov(i, j) = sum_k y_ik y_jk / p_k

without the user's bias, which all items share. Their similarity is the correlation. A user's own
ratings r enter a prediction of item i linearly, by

    z_i' A^-1 z_j (r_j - mu - y_j0) / s^2,    A = diag(p) + sum_j z_j z_j' / s^2,    z = (1, y)

for each rated item j, s the residual deviation (1 for the linear link). This is exact for the
linear link. The cells link integrates over the levels, which it is to first order.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def correlations(items: Floats, precision: Floats, item: int) -> Doubles:
    """Return the correlation of all items' ratings with those of one item, mean over draws.

    `items`: shape (draws, items, 1 + K), column 0 the bias. `precision`: shape (draws, 1 + K).
    Items whose ratings do not vary over users have 0. Shape (items,). Raises `RequestError` for a
    model without factors.
    """
    if items.shape[2] < 2:
        raise RequestError(
            "The model has no item factors, so no items are similar; fit one with factors."
        )
    scaled = items[:, :, 1:].astype(np.float64) / np.sqrt(precision[:, None, 1:])
    covariances = np.einsum("dnk,dk->dn", scaled, scaled[:, item])
    deviations = np.sqrt(np.einsum("dnk,dnk->dn", scaled, scaled))
    norms = deviations * deviations[:, item, None]
    positive = norms > 0
    return np.where(positive, covariances / np.where(positive, norms, 1), 0).mean(0)


def contributions(
    mu: Doubles,
    items: Floats,
    precision: Floats,
    sigma: float,
    rated: Sequence[int],
    ratings: Doubles,
    item: int,
) -> Doubles:
    """Return what each own rating adds to the predicted rating of `item`, mean over draws.

    `mu`, `items`, `precision`, `sigma`: as in `Fitted`. `rated`: item codes, `ratings`: of those,
    shape (m,).
    """
    noise = sigma**2 or 1.0
    total = np.zeros(len(rated))
    for level, y, p in zip(mu, items.astype(np.float64), precision, strict=True):
        z = np.concatenate([np.ones((len(y), 1)), y[:, 1:]], axis=1)
        mine = z[rated]
        normal = np.diag(p.astype(np.float64)) + mine.T @ mine / noise
        influence = np.linalg.solve(normal, mine.T).T @ z[item] / noise
        total += influence * (ratings - level - y[rated, 0])
    return total / len(mu)
