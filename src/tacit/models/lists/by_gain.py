"""Top-N lists by expected gain: presence and predicted rating combined.

    gain_j = s_j (r_j - lo) / (hi - lo)    where s_j > 0, and s_j elsewhere

s_j: score of a top-N model, how strongly it predicts an interaction with item j. r_j: predicted
rating, lo and hi the ends of the scale. If s_j is a probability, this is the expected gain of
showing the item, where an interaction gains its rating's position on the scale. No parameter is
tuned. `ListProfile.recommend` does the same on the device.
"""

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.lists.topk import best_lists
from tacit.models.fitted import Fitted
from tacit.models.lists.by_rating import predictions
from tacit.models.lists.exclusion import Where, users_of
from tacit.models.lists.fitted import FittedLists
from tacit.ratings import Codes, Ratings

Floats = NDArray[np.float32]


def lists_by_gain(
    presence: FittedLists, stars: Fitted, own: Ratings, length: int = 20, *, where: Where = "device"
) -> Codes:
    """Return the top items of every user, with the exclusions of `FittedLists.lists`.

    Both models have the users and items of `own`, in its order. Shape (users, length). Raises
    `RequestError` for models of other users or items, and for a length below 1.
    """
    people, items = len(presence.user_ids), len(presence.item_ids)
    if (len(stars.user_ids), len(stars.item_ids)) != (people, items):
        raise RequestError(
            f"Both models must have the same users and items: the list model has {people:,} users "
            f"and {items:,} items, the rating model {len(stars.user_ids):,} and "
            f"{len(stars.item_ids):,}. Fit both to the same reports."
        )
    own_items = presence.own_items(own)
    users, excluded = presence.exclusion(own_items, where)
    expected = users_of(users, presence.scorer(own_items, where))
    predicted = predictions(stars, own, users, where)
    low, high = stars.levels[0], stars.levels[-1]

    def gain(some: slice) -> Floats:
        share = (predicted(some) - np.float32(low)) / np.float32(high - low)
        return _gained(expected(some), share)

    codes = np.full((people, length), -1, np.int32)
    codes[users] = best_lists(gain, excluded, items, length)
    return codes


def _gained(scores: Floats, share: Floats) -> Floats:
    """Return the gain. A negative score means unlikely, and a high rating must not change that."""
    return np.where(scores > 0, scores * share, scores)
