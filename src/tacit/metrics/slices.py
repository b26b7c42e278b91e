"""Error by number of ratings: deciles of users by activity, and of items by popularity."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Codes, Ratings

Doubles = NDArray[np.float64]
Counts = NDArray[np.int64]
By = Literal["activity", "popularity"]

TENTHS = 10


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Error on the test ratings of one decile of users (`by` activity) or items (popularity).

    Its `members` are those users or items that have a test rating: `tested` such ratings in total,
    and between `fewest` and `most` training ratings each. `decile`: 1 for the fewest to 10, as in
    `deciles`. `slice_rmse`: in units of the scale. `privacy_cost`: the increase over the same model
    without privacy, on the same split and decile; None if that was not run.
    """

    by: By
    decile: int
    fewest: int
    most: int
    members: int
    tested: int
    slice_rmse: float
    privacy_cost: float | None = None


def deciles(counts: Counts) -> Counts:
    """Return the decile of each count, 1 to 10, shape (n,), in about equal sizes, ties together.

    With `less` counts below a count and `equal` ones equal to it, including itself, its decile is
    `1 + floor(10 (less + equal / 2) / n)`, the tenth that contains the middle of the ties. With
    many ties, or fewer than ten counts, some deciles are empty.
    """
    _, inverse, equal = np.unique(counts, return_inverse=True, return_counts=True)
    less = np.cumsum(equal) - equal
    middle = TENTHS * (2 * less + equal) // (2 * max(1, len(counts)))
    return 1 + middle[inverse]


def slices(
    train: Ratings, test: Ratings, predicted: NDArray[np.floating[Any]]
) -> tuple[Slice, ...]:
    """Return the error by decile of the training ratings of a user, then of an item.

    Of users and items with a test rating, so that no slice is empty; empty deciles are omitted.
    `train` and `test` share their vocabularies; `predicted`: of the test rows, shape (n,). Memory
    is linear in test rows, users and items.
    """
    squared = (test.values.astype(np.float64) - predicted) ** 2
    activity = np.bincount(train.users, minlength=train.n_users)
    popularity = np.bincount(train.items, minlength=train.n_items)
    return (
        *_slices("activity", activity, test.users, squared),
        *_slices("popularity", popularity, test.items, squared),
    )


def _slices(by: By, counts: Counts, codes: Codes, squared: Doubles) -> Iterator[Slice]:
    """Yield one side's slices, from training counts, and the test rows' codes and errors."""
    tested = np.bincount(codes, minlength=len(counts))
    error = np.bincount(codes, squared, len(counts))
    some = tested > 0
    counts, tested, error = counts[some], tested[some], error[some]
    tenth = deciles(counts)
    for decile in np.unique(tenth).tolist():
        mine = tenth == decile
        rows = int(tested[mine].sum())
        yield Slice(
            by=by,
            decile=decile,
            fewest=int(counts[mine].min()),
            most=int(counts[mine].max()),
            members=int(mine.sum()),
            tested=rows,
            slice_rmse=float(np.sqrt(error[mine].sum() / rows)),
        )
