"""Gain of a list model over popularity where presence is protected, on users that were held out.

A tenth of the users is held out by a public hash, and two models are fitted to the others: the one
to be published, and popularity b. A device scores by its true items, s = p + x W, which reports
estimate without bias (`tacit.models.lists.shrinkage`). The best multiple of the scores explains

    |x|^2 - min over a of |x - a s|^2 = (sum of x s')^2 / sum of |s|^2

of the squares of the held-out users' items, and the gain is that part less the part of b, over the
number of their items. Users' reports are independent, so the standard error is that of a ratio of
sums over users, at the best multiples.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.collection.public_hash import hashes
from tacit.models import FittedLists
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.interactions import presence_of
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.lists.shrinkage import WeightFactors, user_statistics
from tacit.ratings import Mask
from tacit.reports import Reports
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]
SHARE = 0.1
"""Fraction of the users that is held out."""
HOLD = np.uint64(0xD1B54A32D192ED03)
"""Odd multiplier of the hashes that hold users out."""
LEAST = 1e-12


def is_held_out_user(reports: Reports) -> Mask:
    """Return which users are held out, by their ids alone; shape (users,)."""
    return np.asarray(hashes(reports.user_ids) * HOLD < np.uint64(SHARE * 2.0**64), np.bool_)


def of_users(reports: Reports, mask: Mask) -> Reports:
    """Return the reports of some users, and no other users. `mask`: shape (users,)."""
    number = (np.cumsum(mask) - 1).astype(np.int32)
    part = reports.where(mask[reports.users])
    ids = Vocabulary(reports.user_ids.ids.filter(pl.Series(mask)))
    return replace(part, users=number[part.users], user_ids=ids)


def presence_gains(
    reports: Reports, fit: Callable[[Reports], Any], popular: Callable[[Reports], Any]
) -> tuple[Doubles, Doubles] | None:
    """Return the gain and the number of items of each held-out user, both estimates, (users,).

    `fit`, `popular`: return `FittedLists` of other users' reports. None for a model with weights of
    other than low rank, whose scores cannot be estimated.
    """
    is_held = is_held_out_user(reports)
    training, held = (of_users(reports, mask) for mask in (~is_held, is_held))
    model, base = fit(training), popular(training)
    assert isinstance(model, FittedLists), "the model makes lists"
    assert isinstance(base, FittedLists), "the baseline makes lists"
    if model.weights.between is not None:
        return None
    presence = presence_of(held)
    gains = _explained(presence, model.weights) - _explained(presence, base.weights)
    return gains, presence.over_items(np.ones(held.n_items))


def _explained(presence: PresenceMatrix, weights: ItemWeights) -> Doubles:
    """Return 2 a x s' - a^2 |s|^2 of each user at the best a, shape (users,)."""
    none = np.zeros((len(weights.popularity), 0))
    low_rank = weights.directions
    left, right = (none, none) if low_rank is None else (low_rank.left_factors, low_rank.of_items)
    popularity = weights.popularity.astype(np.float64)
    z = user_statistics(presence, popularity, WeightFactors(left, right), noisy_rows=False)
    agreement, squares = z[:, 0] + z[:, 1], z[:, 2] + 2 * z[:, 3] + z[:, 4]
    a = max(float(agreement.sum()) / max(float(squares.sum()), LEAST), 0.0)
    return 2 * a * agreement - a**2 * squares
