"""Ratings centred by user, sparse, with the candidates of an item: all that share a rater with it.

Catalogues of tens of thousands of items and users do not fit in memory as a matrix: that of
MovieLens 20M in two halves has 30 GB.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from tacit.kernels.neighbourhood.sensitivity import SMALLEST
from tacit.ratings import Ratings
from tacit_studies.x_map.bounds import Doubles, Longs, SensitivityTerms

BLOCK = 1 << 21
"""Ratings of the raters of an item that are processed at once."""


class Candidates(NamedTuple):
    """Items that share a rater with an item: similarity, and |SS|, at least 10^-6; shape (n,)."""

    s: Doubles
    sensitivity: Doubles


@dataclass(frozen=True, eq=False)
class CentredRatings:
    """Ratings less their user's mean, by item and by user, shape (users, items). A rating equal to
    the mean is an explicit zero. `squares`: squared norms of the items, shape (items,)."""

    by_item: csc_array
    by_user: csr_array
    squares: Doubles

    @classmethod
    def of(cls, ratings: Ratings) -> "CentredRatings":
        """Centre the ratings."""
        counts = np.bincount(ratings.users, minlength=ratings.n_users)
        means = np.bincount(ratings.users, ratings.values, ratings.n_users) / np.maximum(counts, 1)
        around = ratings.values - means[ratings.users]
        shape = (ratings.n_users, ratings.n_items)
        by_user = csr_array((around, (ratings.users, ratings.items)), shape)
        squares = np.bincount(ratings.items, around**2, ratings.n_items).astype(np.float64)
        return cls(by_user.tocsc(), by_user, squares)

    @property
    def counts(self) -> Longs:
        """The number of raters of each item, shape (items,)."""
        return np.diff(self.by_item.indptr).astype(np.int64)

    def pair(self, i: int, j: int) -> tuple[Doubles, Doubles]:
        """Return two items' ratings by the users who rated either, NaN where unrated."""
        columns = [self._column(item) for item in (i, j)]
        users = np.union1d(columns[0][0], columns[1][0])
        first, second = np.full((2, len(users)), np.nan)
        for row, (raters, values) in zip((first, second), columns, strict=True):
            row[np.searchsorted(users, raters)] = values
        return first, second

    def share_a_rater(self, i: int, j: int) -> bool:
        """Whether a user rated both items."""
        return bool(len(np.intersect1d(self._column(i)[0], self._column(j)[0])))

    def candidates(self, item: int) -> Candidates:
        """Return the candidates of an item, with the squared norm of each above 0."""
        first = float(self.squares[item])
        terms = SensitivityTerms.none(len(self.squares))
        reached = np.zeros(len(self.squares), np.bool_)
        for x, block in self._blocks(item):
            near = np.flatnonzero(np.diff(block.indptr))
            second = np.repeat(self.squares[near], np.diff(block.indptr)[near])
            start = block.indptr[near].astype(np.int64)
            some = SensitivityTerms.of(x[block.indices], block.data, first, second, start)
            terms.merge(some, near)
            reached[near] = True
        reached[item] = False
        others = np.flatnonzero(reached & (self.squares * first > 0))
        s = terms.similarity(first, self.squares)[others]
        printed = terms.sensitivity(first, self.squares)[others]
        return Candidates(s, np.maximum(np.abs(printed), SMALLEST))

    def _blocks(self, item: int) -> Iterator[tuple[Doubles, csc_array]]:
        """Yield an item's ratings by some of its raters, and all ratings of these, by item."""
        raters, values = self._column(item)
        ends = np.cumsum(np.diff(self.by_user.indptr)[raters])
        for block in np.split(np.arange(len(raters)), np.flatnonzero(np.diff(ends // BLOCK)) + 1):
            yield values[block], self.by_user[raters[block]].tocsc()

    def _column(self, item: int) -> tuple[NDArray[np.int32], Doubles]:
        """Return the raters of an item, ascending, and their ratings."""
        run = slice(self.by_item.indptr[item], self.by_item.indptr[item + 1])
        return self.by_item.indices[run], self.by_item.data[run]
