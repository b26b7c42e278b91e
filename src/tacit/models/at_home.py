"""What every person's device would predict: the fitted item side, solved on her own true ratings.

Simulates many devices at once for evaluation. On a real device the same solve is
`tacit.device.profile`, and the true ratings never leave it.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.foldin import Home, fold_in
from tacit.kernels.layout import Layout, layout
from tacit.models.fitted import Fitted, Floats
from tacit.ratings import Codes, Ratings

Doubles = NDArray[np.float64]


def at_home(fitted: Fitted, own: Ratings) -> Fitted:
    """The model with each person's row solved at home from `own`, which shares its vocabulary."""
    rows = [own_rows(fitted, own, draw).astype(np.float32) for draw in range(len(fitted.mu))]
    return replace(fitted, people=np.stack(rows))


def own_rows(fitted: Fitted, own: Ratings, draw: int) -> Doubles:
    """Every person's row under one draw of the item side, shape (people, 1 + K)."""
    cells = layout(own.users, own.items, len(fitted.user_ids), len(fitted.item_ids))
    home = Home(
        float(fitted.mu[draw]),
        fitted.items[draw],
        fitted.precision[draw].astype(np.float64),
        _prior(fitted, cells, draw),
        fitted.levels,
        fitted.sigma,
    )
    return fold_in(cells.users, fitted.levels[own.levels[cells.order]], home)


def device_predict(fitted: Fitted, own: Ratings, users: Codes, items: Codes) -> Floats:
    """Ratings of pairs as each person's own device predicts them, shape (n,)."""
    return at_home(fitted, own).predict(users, items)


def _prior(fitted: Fitted, cells: Layout, draw: int) -> Doubles:
    if fitted.presence is None or fitted.prior_weights is None:
        return np.zeros((len(fitted.user_ids), fitted.items.shape[2]))
    features = fitted.presence.people(cells.users)
    return features @ fitted.prior_weights[draw].astype(np.float64)
