"""Top-N recommendation by predicted rating."""

import numpy as np

from tacit.engines.engine import Engine
from tacit.kernels.layout import by_user
from tacit.kernels.lists.topk import Scorer, best_lists
from tacit.models.device_blocks import every_item
from tacit.models.fitted import Fitted
from tacit.models.lists.exclusion import Exclusion, Where, exclusion
from tacit.models.simulated_devices import at_home, device_lists
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
    score = predictions(fitted, own, users, where)
    codes[users] = best_lists(score, excluded, len(fitted.item_ids), length)
    return codes


def predictions(fitted: Fitted, own: Ratings, users: Codes, where: Where) -> Scorer:
    """Return the predicted ratings of all items by these users, for slices of them."""
    known = at_home(fitted, own) if where == "device" else fitted
    return every_item(known.predict_codes, users, len(fitted.item_ids))


def _excluded(ratings: Ratings, guarantee: Guarantee, where: Where) -> Exclusion:
    """Return the users in `ratings` and the items to exclude for each."""
    users = np.unique(ratings.users)
    rows = np.searchsorted(users, ratings.users).astype(np.int32)
    items = by_user(rows, ratings.items, len(users), ratings.n_items)[0]
    return Exclusion(users, exclusion(items, guarantee, where).items)
