"""Conversion of trained SVD parameters to one bilinear form on the scale of the data."""

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
    """Return a point estimate with the linear link.

    Of `ratings` only presence is read, public here.

    In stars: `mean`, relative to the middle of the scale; `people` and `items`, rows of 1 + K, bias
    first, shapes (users, 1 + K) and (items, 1 + K). Rows of unrated users and items are set to
    zero.
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
