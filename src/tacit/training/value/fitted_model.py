"""What a curator's training learnt, folded into one bilinear form on the data's own scale."""

import numpy as np
from numpy.typing import NDArray

from tacit.models.fitted import Fitted
from tacit.models.svd import STARS, own_precision
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings

Doubles = NDArray[np.float64]


def fitted_svd(
    name: str, ratings: Ratings, mean: float, people: Doubles, items: Doubles, claim: Guarantee
) -> Fitted:
    """A point estimate with the linear link; of `ratings` only what is public at `value` is read.

    In stars: `mean`, above the middle of the scale; `people` and `items`, rows of 1 + K, the level
    first. Rows that no rating has moved are zero. `people`: shape (people, 1 + K), `items`: (items,
    1 + K).
    """
    low, high = ratings.scale.values[0], ratings.scale.values[-1]
    star = (high - low) / STARS
    rated = np.zeros(len(people), np.bool_)
    rated[ratings.users] = True
    known = np.zeros(len(items), np.bool_)
    known[ratings.items] = True
    people, items = people * rated[:, None], items * known[:, None]
    in_stars = np.column_stack([star * items[:, 0], items[:, 1:]])
    return Fitted.point(
        name,
        ratings,
        mu=(low + high) / 2 + star * mean,
        people=star * people,
        items=in_stars,
        precision=own_precision(people[rated]),
        guarantee=ratings.qualified(claim),
    )
