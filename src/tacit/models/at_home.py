"""What every person's device would predict: the fitted item side, solved on her own true ratings.

Simulates many devices at once for evaluation. On a real device the same solve is
`tacit.device.profile`, and the true ratings never leave it.
"""

from dataclasses import replace

import numpy as np

from tacit.kernels.foldin import fold_in
from tacit.kernels.layout import Layout, layout
from tacit.models.fitted import Fitted, Floats
from tacit.ratings import Codes, Ratings


def at_home(fitted: Fitted, own: Ratings) -> Fitted:
    """The model with each person's row solved at home from `own`, which shares its vocabulary."""
    cells = layout(own.users, own.items, len(fitted.user_ids), len(fitted.item_ids))
    ratings = fitted.levels[own.levels[cells.order]]
    rows = np.empty((len(fitted.mu), len(fitted.user_ids), fitted.items.shape[2]), np.float32)
    for d, mu in enumerate(fitted.mu):
        rows[d] = fold_in(
            cells.users, ratings, float(mu), fitted.items[d],
            fitted.precision[d].astype(np.float64), _prior(fitted, cells, d),
            fitted.levels, fitted.sigma,
        )  # fmt: skip
    return replace(fitted, people=rows)


def device_predict(fitted: Fitted, own: Ratings, users: Codes, items: Codes) -> Floats:
    """Ratings of pairs as each person's own device predicts them, shape (n,)."""
    return at_home(fitted, own).predict(users, items)


def _prior(
    fitted: Fitted, cells: Layout, draw: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    if fitted.presence is None or fitted.prior_weights is None:
        return np.zeros((len(fitted.user_ids), fitted.items.shape[2]))
    features = fitted.presence.people(cells.users)
    return features @ fitted.prior_weights[draw].astype(np.float64)
