"""Lists of what somebody would rate highest, by a model of ratings: would like, never mind meet."""

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import by_user
from tacit.kernels.lists.topk import Scorer, best_lists
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import Where
from tacit.models.simulated_devices import at_home
from tacit.ratings import Codes, Ratings

Floats = NDArray[np.float32]


def lists_by_rating(
    fitted: Fitted, own: Ratings, length: int = 20, *, where: Where = "device"
) -> Codes:
    """Everybody's list by predicted rating, as `FittedLists.lists` gives one by presence.

    Of those who have something in `own`; the others' lists are empty. `where`: whether a person's
    row comes from their own ratings or from what they reported.
    """
    n_items, whose = len(fitted.item_ids), np.unique(own.users)
    order = np.searchsorted(whose, own.users).astype(np.int32)
    seen, _ = by_user(order, own.items, len(whose), n_items)
    predicted = predictions(fitted, own, whose, where)
    codes = np.full((len(fitted.user_ids), length), -1, np.int32)
    codes[whose] = best_lists(predicted, seen, n_items, length)
    return codes


def predictions(fitted: Fitted, own: Ratings, whose: Codes, where: Where) -> Scorer:
    """What each of these people would rate every item, for a slice of them: a scorer of lists."""
    known = at_home(fitted, own) if where == "device" else fitted
    n_items = len(fitted.item_ids)
    everything = np.arange(n_items, dtype=np.int32)

    def predicted(some: slice) -> Floats:
        people = whose[some]
        users, items = np.repeat(people, n_items), np.tile(everything, len(people))
        return known.predict_codes(users, items).reshape(len(people), n_items)

    return predicted
