"""Top-N lists from a rating model: by predicted rating, or by expected gain with a list model.

Top-N lists by expected gain: presence and predicted rating combined.

    gain_j = s_j (r_j - lo) / (hi - lo)    where s_j > 0, and s_j elsewhere

s_j: score of a top-N model, how strongly it predicts an interaction with item j. r_j: predicted
rating, lo and hi the ends of the scale. If s_j is a probability, this is the expected gain of
showing the item, where an interaction gains its rating's position on the scale. No parameter is
tuned. `ListProfile.recommend` does the same on the device.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.kernels.layout import by_user
from tacit.kernels.topk import Scorer, best_lists
from tacit.models.fitted import Fitted
from tacit.models.lists.exclusion import Exclusion, Where, exclusion, users_of
from tacit.models.lists.fitted import FittedLists
from tacit.models.ranking import every_item
from tacit.models.simulated_devices import device_lists, fold_in
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings


def lists_by_rating(
    fitted: Fitted,
    own: Ratings,
    length: int = 20,
    *,
    where: Where = "device",
    engine: Engine | None = None,
) -> Codes:
    """Return the items of highest predicted rating for the users in `own`; other rows are empty.

    `own`: true ratings; at the provider those that were reported (a plan with a cap reports fewer).
    `where`: the party that predicts, which determines the excluded items (`exclusion`): a provider
    excludes none if the plan protects presence. `engine`: where devices are simulated, None for
    this process. Results are identical on every engine. Shape (users of the model, length), item
    codes, padded with -1.
    """
    own = own.aligned(fitted.user_ids, fitted.item_ids)
    codes = np.full((len(fitted.user_ids), length), -1, np.int32)
    users, excluded = _excluded(own, fitted.guarantee, where)
    if where == "device" and engine is not None:
        codes[users] = device_lists(fitted, own, users, length, engine)
        return codes
    known = fold_in(fitted, own) if where == "device" else fitted
    codes[users] = known.best_items(users, excluded, length)[0]
    return codes


def top_n(
    fitted: Any, ratings: Ratings, length: int, *, where: str, engine: Engine | None = None
) -> Codes:
    """Return the lists of a top-N model, or lists by predicted rating of a rating model.

    `where`: "provider", "curator" or "device", whose lists are computed on the engine.
    """
    if isinstance(fitted, Fitted):
        return lists_by_rating(fitted, ratings, length, where=cast("Where", where), engine=engine)
    return fitted.lists(ratings, length, where=where)


def predictions(fitted: Fitted, own: Ratings, users: Codes, where: Where) -> Scorer:
    """Return the predicted ratings of all items by these users, for slices of them."""
    known = fold_in(fitted, own) if where == "device" else fitted
    return every_item(known.predict_codes, users, len(fitted.item_ids))


def _excluded(ratings: Ratings, guarantee: Guarantee, where: Where) -> Exclusion:
    """Return the users in `ratings` and the items to exclude for each."""
    users = np.unique(ratings.users)
    rows = np.searchsorted(users, ratings.users).astype(np.int32)
    items = by_user(rows, ratings.items, len(users), ratings.n_items)[0]
    return Exclusion(users, exclusion(items, guarantee, where).items)


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
