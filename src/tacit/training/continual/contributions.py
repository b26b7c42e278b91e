"""What each user contributes to the totals of all releases, bounded in integers.

A user's ratings arrive over many releases, and how many will follow is unknown. The i-th rating has
the squared weight 1 / (i H), where H = 1 + 1/2 + ... + 1/M for the first M ratings, and 0 from then
on. Those of one release share their squared weights equally. So a user who contributes m ratings at
once has the total weight sqrt(m H_m / H) instead of sqrt(m), whatever m is, and

    sum of squared weights over all releases <= 1.

A weight never changes. A rating that is deleted counts no more, and its weight is never used again;
so the sum above is over everything that the user ever contributed. The column of R of a deleted
rating ends early, which makes its norm smaller.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError
from tacit.training.continual.prefix_sums import PrefixSums
from tacit.training.mechanism.contributions import root_up

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of ratings, one row each, in steps.

    `bound`: norm of a user's weights in steps. `most`: M. `user`, `item`: codes, shape (n,).
    `release`: the first release with the rating, from 0. `steps`: weights, at least 0. `amounts`:
    weights times labels, at most `steps` in absolute value. `ranked`: number of ratings that each
    user ever contributed, and `spent` the sum of their squared weights, shape (users,).
    """

    bound: int
    most: int
    user: Ints
    item: Ints
    release: Ints
    steps: Ints
    amounts: Ints
    ranked: Longs
    spent: Longs

    @classmethod
    def none(cls, bound: int, most: int) -> Self:
        """Return no contributions of no users."""
        rows, users = np.zeros(0, np.int32), np.zeros(0, np.int64)
        return cls(bound, most, rows, rows, rows, rows, rows, users, users)

    def without_missing(self, users: Ints, items: Ints, columns: int) -> Self:
        """Return the contributions of the ratings (users[r], items[r]), without deleted ones.

        `columns`: number of items.
        """
        present = np.isin(self._pairs(columns), _pairs(users, items, columns))
        rows = {name: getattr(self, name)[present] for name in ROWS}
        return replace(self, **rows)

    def missing(self, users: Ints, items: Ints, columns: int) -> NDArray[np.bool_]:
        """Return which ratings have no contribution yet, shape (n,)."""
        return ~np.isin(_pairs(users, items, columns), self._pairs(columns))

    def with_new(
        self, users: Ints, items: Ints, labels: Doubles, *, release: int, people: int
    ) -> Self:
        """Return the contributions with those of new ratings, shape (new,).

        `labels`: from -1 to 1, shape (new,). `people`: number of users.
        """
        ranked, spent = (_padded(each, people) for each in (self.ranked, self.spent))
        new = np.bincount(users, minlength=people)
        steps = self._weights(ranked, new)
        # This check alone proves the bound. An error would reveal that a user's ratings reach it,
        # so such a user contributes nothing instead.
        steps[spent + new * steps**2 > self.bound**2] = 0
        mine = steps[users].astype(np.int32)
        rows = (users, items, np.full(len(users), release), mine, np.trunc(mine * labels))
        added = {
            name: np.concatenate([getattr(self, name), each]).astype(np.int32)
            for name, each in zip(ROWS, rows, strict=True)
        }
        return replace(self, **added, ranked=ranked + new, spent=spent + new * steps**2)

    def require_bounded(self) -> None:
        """Raise `CertificateError` unless every user's contributions have the declared norm.

        Every sensitivity below is proved from this, so it is checked before each release.
        """
        people = len(self.spent)
        used = np.bincount(self.user, self.steps.astype(np.float64) ** 2, people)
        bounded = (used <= self.spent).all() and (self.spent <= self.bound**2).all()
        if not (bounded and (np.abs(self.amounts) <= self.steps).all()):
            raise CertificateError("The contribution of a user exceeds its bound.")

    def totals(self, values: Ints, prefix: PrefixSums, release: int, columns: int) -> Longs:
        """Return R x of one release for `values`, `steps` or `amounts`; shape (columns,)."""
        sums = np.zeros(columns, np.int64)
        np.add.at(sums, self.item, prefix.entries[release - self.release] * values)
        return sums

    def pair_totals(self, prefix: PrefixSums, release: int, columns: int) -> Longs:
        """Return R x of one release for the sums of products of different items.

        Shape (columns, columns), symmetric, 0 on the diagonal. A pair is new at the later of the
        releases of its two ratings.
        """
        from scipy import sparse

        shape = (len(self.spent), columns)
        total = np.zeros((columns, columns), np.int64)
        for first in np.unique(self.release):
            known, new = (
                sparse.csr_array(
                    (self.steps[rows].astype(np.int64), (self.user[rows], self.item[rows])), shape
                )
                for rows in (self.release <= first, self.release == first)
            )
            cross = np.asarray((new.T @ known).toarray(), np.int64)
            both = np.asarray((new.T @ new).toarray(), np.int64)
            total += prefix.entries[release - first] * (cross + cross.T - both)
        np.fill_diagonal(total, 0)
        return total

    def _weights(self, ranked: Longs, new: Longs) -> Longs:
        """Return the weight, in steps rounded down, of each of a user's `new` ratings."""
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, self.most + 1))])
        before, after = (np.minimum(each, self.most) for each in (ranked, ranked + new))
        squares = (harmonic[after] - harmonic[before]) / harmonic[-1] / np.maximum(new, 1)
        return np.floor(self.bound * np.sqrt(squares)).astype(np.int64)

    def _pairs(self, columns: int) -> Longs:
        return _pairs(self.user, self.item, columns)


ROWS = ("user", "item", "release", "steps", "amounts")
"""Columns of contributions."""


def _pairs(users: Ints, items: Ints, columns: int) -> Longs:
    return users.astype(np.int64) * columns + items


def _padded(numbers: Longs, size: int) -> Longs:
    return np.concatenate([numbers, np.zeros(size - len(numbers), np.int64)])


def count_sensitivity(bound: int, prefix: PrefixSums) -> int:
    """Return the L2 sensitivity of all releases of sums of weights together, in steps.

    sqrt(2) W |R|: weights and the entries of R are at least 0. Where a user and their replacement
    have the same item, at whichever releases, their columns of R form no obtuse angle.
    """
    return root_up(2 * bound**2 * prefix.squared_norm)


def pair_sensitivity(bound: int, prefix: PrefixSums) -> int:
    """Return the same for sums of products of different items, each pair once: W^2 |R|.

    A user's products have a squared norm of at most (W^4 - sum of x_a^4) / 2, and the columns of
    two users form no obtuse angle.
    """
    return root_up(bound**4 * prefix.squared_norm)


def amount_sensitivity(bound: int, prefix: PrefixSums) -> int:
    """Return the same for sums of amounts of any sign: 2 W |R|."""
    return root_up(4 * bound**2 * prefix.squared_norm)
