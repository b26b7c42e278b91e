"""True ratings for value-level trainers: integers on a public grid, in canonical order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Layout, layout
from tacit.ratings import Ratings

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

STEPS = 1 << 20
"""Grid steps per unit of the rating scale."""


@dataclass(frozen=True, eq=False)
class IntegerRatings:
    """True ratings.

    `layout`: presence, public at the unit `value`. `values`: ratings in steps relative to the
    middle of the scale, shape (n,), canonical order. `width`: range of the scale in steps, the most
    that one rating can change. Nothing else is derived from the ratings.
    """

    layout: Layout
    values: Ints
    width: int

    @property
    def user_of(self) -> NDArray[np.int64]:
        """User of each rating, shape (n,)."""
        users = self.layout.users
        return np.repeat(np.arange(len(users.counts)), users.counts)

    @property
    def item_of(self) -> NDArray[np.int32]:
        """Item of each rating, shape (n,)."""
        return self.layout.users.other


def integer_ratings(ratings: Ratings) -> IntegerRatings:
    """Convert ratings to grid steps; each level is rounded once, so equal ratings stay equal.

    Raises `RequestError` if a (user, item) pair occurs twice: its value would count twice.
    """
    ratings.require_distinct_pairs()
    levels = np.asarray(ratings.scale.values)
    middle = (levels[0] + levels[-1]) / 2
    grid = np.rint((levels - middle) * STEPS).astype(np.int64)
    cells, order = layout(ratings.users, ratings.items, ratings.n_users, ratings.n_items)
    return IntegerRatings(cells, grid[ratings.levels[order]], int(grid[-1] - grid[0]))


def sums(rows: NDArray[np.integer], values: Ints, count: int) -> Ints:
    """Return the exact sums of integer `values` over each of `count` rows."""
    totals = np.zeros(count, np.int64)
    np.add.at(totals, rows, values)
    return totals
