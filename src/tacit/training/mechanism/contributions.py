"""Bounded contributions: integer contributions of a user to a total, with bounded L2 norm.

A user's ratings have integer weights s, and each is multiplied with an integer row of the same
user: s_j x_j is added to item j. With ||s|| <= W and every ||x_j|| <= R, checked in integers, the
contribution has the norm sqrt(sum s_j^2 ||x_j||^2) <= W R. Replacing one user by another then
changes the totals by at most

    2 W R,    and by sqrt(2) W R where s >= 0 and no two users' rows form an obtuse angle.

Integer sums are exact: identical in any order, on any engine.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.layout import Side, layout
from tacit.ratings import Ratings
from tacit.training.mechanism.noisy_releases import MOST_DEVIATION

Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]
FINEST_ROWS, MOST_WEIGHTS = 9, 14  # bits: finer than the noise needs


@dataclass(frozen=True, eq=False)
class CanonicalRatings:
    """All ratings in canonical order: by user, then by item.

    `person`, `item`: codes, shape (n,). `values`: ratings minus the middle of the scale, shape
    (n,). `half`: half of the scale's range, public like the number of `people`.
    """

    people: int
    users: Side
    items: Side
    person: NDArray[np.int64]
    values: Doubles
    half: float

    @classmethod
    def of(cls, ratings: Ratings) -> Self:
        """Return the ratings in canonical order, independent of the order of their rows.

        Raises `RequestError` if a (user, item) pair occurs twice: the norm bounds would not hold.
        """
        ratings.require_distinct_pairs()
        sides, order = layout(ratings.users, ratings.items, ratings.n_users, ratings.n_items)
        levels = np.asarray(ratings.scale.values)
        half = float(levels[-1] - levels[0]) / 2
        values = levels[ratings.levels[order]] - (levels[0] + half)
        person = np.repeat(np.arange(ratings.n_users), sides.users.counts)
        return cls(ratings.n_users, sides.users, sides.items, person, values, half)

    @property
    def item(self) -> Ints:
        """Item of every rating, shape (n,)."""
        return self.users.other

    def of_person(self, amounts: Doubles) -> Doubles:
        """Sum amounts of ratings, shape (n,), per user, shape (users,)."""
        return np.bincount(self.person, amounts, self.people).astype(np.float64)

    def where(self, selected: Mask, column: NDArray[np.int64], columns: int) -> Self:
        """Return the ratings of the `selected` items, item j renumbered to `column[j]`.

        `columns`: number of selected items.
        """
        mine = selected[self.item]
        users = self.person[mine].astype(np.int32)
        items = column[self.item[mine]].astype(np.int32)
        sides, order = layout(users, items, self.people, columns)
        return type(self)(
            self.people,
            sides.users,
            sides.items,
            self.person[mine][order],
            self.values[mine][order],
            self.half,
        )


class NormBounds(NamedTuple):
    """Bounds on norms, in steps: of a user's `weights`, and of a row."""

    weights: int
    rows: int


def grid(multiplier: float) -> NormBounds:
    """Return the finest grid that noise of this multiplier, on sensitivity 2 W R, allows."""
    bits = max(2, math.floor(math.log2(MOST_DEVIATION / (2.01 * multiplier))))
    rows = min(FINEST_ROWS, bits // 2)
    return NormBounds(1 << min(bits - rows, MOST_WEIGHTS), 1 << rows)


def count_grid(multiplier: float) -> int:
    """Return the bound W on weights alone, in steps: the finest that noise on 2 W allows."""
    bits = math.floor(math.log2(MOST_DEVIATION / (2.01 * multiplier)))
    return 1 << max(1, min(bits, MOST_WEIGHTS))


def weights(canonical: CanonicalRatings, wanted: Doubles, labels: Doubles, bound: float) -> Doubles:
    """Return weights s of cells in proportion to `wanted` (items,), bounded per user.

    sum s^2 <= 1 and sum (s label)^2 <= bound^2: users with more ratings have less weight in each.
    """
    requested = wanted[canonical.item]
    by_weight = canonical.of_person(requested**2)
    by_label = canonical.of_person((requested * labels) ** 2) / bound**2
    return requested / np.sqrt(np.maximum(by_weight, by_label))[canonical.person]


def rounded(amounts: Doubles, owner: NDArray[np.int64], owners: int, bound: int) -> Ints:
    """Round `amounts`, whose norm per owner is at most 1, to integers, where 1 is `bound` steps.

    Each owner's integers have an L2 norm of at most `bound`. Rounding adds up to half a step per
    entry, for which amounts are scaled down first. Owners that exceed the bound in integers
    nevertheless are set to 0. `amounts` and `owner`: shape (n,).
    """
    entries = np.bincount(owner, minlength=owners)
    room = np.maximum(bound - np.sqrt(entries) / 2, 0)
    norms = np.maximum(np.sqrt(np.bincount(owner, amounts**2, owners)), 1)
    steps = np.rint(amounts * (room / norms)[owner])
    # Squares below 2^53 add up exactly in floats: this check alone proves the bound.
    inside = np.bincount(owner, steps**2, owners) <= bound**2
    return np.where(inside[owner], steps, 0).astype(np.int32)


def rounded_rows(rows: Doubles, bound: int) -> Ints:
    """Round every row of `rows`, shape (users, D), as `rounded`."""
    owner = np.repeat(np.arange(len(rows)), rows.shape[1])
    return rounded(rows.ravel(), owner, len(rows), bound).reshape(rows.shape)


def packed(rows: Doubles) -> Doubles:
    """Return x x' of every row, shape (users, K (K + 1) / 2), as its upper triangle.

    Off-diagonal entries are multiplied by sqrt(2), so that the L2 norm is that of the matrix.
    """
    first, second = np.triu_indices(rows.shape[1])
    return rows[:, first] * rows[:, second] * np.where(first == second, 1, math.sqrt(2))


def unpacked(vectors: Doubles) -> Doubles:
    """Return the symmetric matrices of packed vectors, shape (n, K, K)."""
    K = (math.isqrt(8 * vectors.shape[1] + 1) - 1) // 2
    first, second = np.triu_indices(K)
    entries = vectors / np.where(first == second, 1, math.sqrt(2))
    matrices = np.empty((len(vectors), K, K))
    matrices[:, first, second] = matrices[:, second, first] = entries
    return matrices


def any_sensitivity(grid: NormBounds) -> int:
    """Return the sensitivity of totals of any sign: 2 W R."""
    return 2 * grid.weights * grid.rows


def count_sensitivity(bound: int) -> int:
    """Return the sensitivity of totals of non-negative weights: sqrt(2) W, rounded up."""
    return root_up(2 * bound**2)


def gram_sensitivity(grid: NormBounds, width: int) -> int:
    """Return the sensitivity of totals of packed x x', `width` entries each.

    sqrt(2) W R, plus the effect of rounding. Where two users' rows meet at an item, their packed
    rows have the product (x . x')^2 >= 0. Rounding moves each row by at most sqrt(D) / 2, and so
    their product by at most sqrt(D) R: the distance squared is at most W^2 (2 R^2 + 2 sqrt(D) R).
    """
    angle = root_up(width * grid.rows**2)
    return root_up(2 * grid.weights**2 * (grid.rows**2 + angle))


def root_up(square: int) -> int:
    """Return the square root of a positive integer, rounded up."""
    return math.isqrt(square - 1) + 1


def require_vocabularies(ratings: Ratings) -> None:
    """Raise `RequestError` if the data have no users or no items.

    Both sets are public. Data without ratings are accepted: they are a neighbour of data in which
    one user rated, and an error would reveal which of the two the trainer saw.
    """
    for name, size in (("users", ratings.n_users), ("items", ratings.n_items)):
        if size == 0:
            raise RequestError(
                f"{name} must contain at least 1 id, got 0; declare them with `with_people` and "
                "`with_catalogue`."
            )
