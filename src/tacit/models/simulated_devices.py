"""What each person's device would predict: the fitted item side, solved on their true ratings.

Simulates many devices at once for evaluation. On a real device the same solve is
`tacit.device.profile`, and the true ratings never leave it.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.given import must_be
from tacit.kernels.devices.foldin import Home, fold_in
from tacit.kernels.layout import by_user
from tacit.models.fitted import Fitted, Floats
from tacit.ratings import Codes, Ratings

Doubles = NDArray[np.float64]
NOTHING = np.empty(0, np.float32)


def at_home(fitted: Fitted, own: Ratings) -> Fitted:
    """The model with each person's row solved at home from `own`, which shares its vocabulary.

    Raises `RequestError` for what is no model of ratings, and for what are no `Ratings`.
    """
    must_be(Fitted, fitted, "model of ratings", "give what `fit` returns")
    must_be(Ratings, own, "`Ratings`", "give those of the model's people")
    people = np.stack([row.astype(np.float32) for row in own_rows(fitted, own)])
    return replace(fitted.on_devices(), people=people)


def own_rows(fitted: Fitted, own: Ratings) -> Iterator[Doubles]:
    """Every person's row, shape (people, 1 + K), under each draw of a device's item side."""
    fitted = fitted.on_devices()
    side, order = by_user(own.users, own.items, len(fitted.user_ids), len(fitted.item_ids))
    ratings = fitted.levels[own.levels[order]]
    features = fitted.presence.people(side) if fitted.presence else None
    for draw, mu in enumerate(fitted.mu):
        home = Home(
            float(mu),
            fitted.items[draw],
            fitted.precision[draw].astype(np.float64),
            _prior(fitted, features, draw),
            fitted.levels,
            fitted.sigma,
            fitted.condensed.shrinkage if fitted.condensed else NOTHING,
        )
        yield fold_in(side, ratings, home)


def device_predict(fitted: Fitted, own: Ratings, users: Codes, items: Codes) -> Floats:
    """Ratings of pairs as each person's own device predicts them, shape (n,)."""
    return at_home(fitted, own).predict_codes(users, items)


def _prior(fitted: Fitted, features: Doubles | None, draw: int) -> Doubles:
    if features is None or fitted.prior_weights is None:
        return np.zeros((len(fitted.user_ids), fitted.items.shape[2]))
    return features @ fitted.prior_weights[draw].astype(np.float64)
