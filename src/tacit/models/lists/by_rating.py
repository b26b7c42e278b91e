"""Lists of what somebody would rate highest, by a model of ratings: would like, never mind meet."""

import numpy as np

from tacit.engines.engine import Engine
from tacit.kernels.layout import by_user
from tacit.kernels.lists.topk import Scorer, best_lists
from tacit.models.device_blocks import every_item
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import Where
from tacit.models.simulated_devices import at_home, device_lists
from tacit.ratings import Codes, Ratings


def lists_by_rating(
    fitted: Fitted,
    own: Ratings,
    length: int = 20,
    *,
    where: Where = "device",
    engine: Engine | None = None,
) -> Codes:
    """Everybody's list by predicted rating, as `FittedLists.lists` gives one by presence.

    Of those who have something in `own`; the others' lists are empty. `where`: whether a person's
    row comes from their own ratings or from what they reported. `engine`: where devices are
    simulated, None for this process; digits are the same on any.
    """
    own = own.aligned(fitted.user_ids, fitted.item_ids)
    whose = np.unique(own.users)
    codes = np.full((len(fitted.user_ids), length), -1, np.int32)
    if where == "device" and engine is not None:
        codes[whose] = device_lists(fitted, own, whose, length, engine)
        return codes
    n_items = len(fitted.item_ids)
    order = np.searchsorted(whose, own.users).astype(np.int32)
    seen, _ = by_user(order, own.items, len(whose), n_items)
    codes[whose] = best_lists(predictions(fitted, own, whose, where), seen, n_items, length)
    return codes


def predictions(fitted: Fitted, own: Ratings, whose: Codes, where: Where) -> Scorer:
    """What each of these people would rate every item, for a slice of them: a scorer of lists."""
    known = at_home(fitted, own) if where == "device" else fitted
    return every_item(known.predict_codes, whose, len(fitted.item_ids))
