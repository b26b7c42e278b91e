"""True ratings as a curator's trainings see them: integers on a public grid, in canonical order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Layout, layout
from tacit.ratings import Ratings

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

STEPS = 1 << 20
"""Grid steps to a unit of the rating scale."""


@dataclass(frozen=True, eq=False)
class IntegerRatings:
    """`values`: ratings in steps above the middle of the scale, shape (n,), canonical order.

    `width`: the range of the scale in steps, by which one rating can move. Nothing else is derived
    from the ratings: who rated what is in `layout`, public at the unit `value`.
    """

    layout: Layout
    values: Ints
    width: int

    @property
    def user_of(self) -> NDArray[np.int64]:
        """The person of each rating, shape (n,)."""
        users = self.layout.users
        return np.repeat(np.arange(len(users.counts)), users.counts)

    @property
    def item_of(self) -> NDArray[np.int32]:
        """The item of each rating, shape (n,)."""
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
    """The sum of integer `values` over each of `count` rows, exactly."""
    found = np.zeros(count, np.int64)
    np.add.at(found, rows, values)
    return found
