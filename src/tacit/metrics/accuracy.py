"""Accuracy of predictions on held-out true ratings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Codes, Mask, Ratings
from tacit.scale import RatingScale

Numbers = NDArray[np.floating[Any]]

LIST_LENGTH = 10
RELEVANT_SHARE = 0.75


def rmse(true: Numbers, predicted: Numbers) -> float:
    """Return the root mean square error, sqrt(mean((r - p)^2)), in units of the scale.

    `true` and `predicted`: shape (n,).
    """
    difference = true.astype(np.float64) - predicted
    return float(np.sqrt(np.mean(difference * difference)))


def mae(true: Numbers, predicted: Numbers) -> float:
    """Return the mean absolute error, mean(|r - p|), in units of the scale.

    `true` and `predicted`: shape (n,).
    """
    return float(np.mean(np.abs(true.astype(np.float64) - predicted)))


def relevant_from(scale: RatingScale) -> float:
    """Return the least rating of a relevant item: lo + .75 (hi - lo), which is 4 on 1 to 5.

    Raises `RequestError` for the scale `there`.
    """
    scale.require_stars("The relevance of a rating")
    low, high = float(scale.low), float(scale.high)
    return low + RELEVANT_SHARE * (high - low)


@dataclass(frozen=True)
class Ranking:
    """Means over `people`; users without a relevant test item are excluded (`left_out`).

    `pooled_f_score`: of one confusion matrix of all lists, Neera et al.'s definition of F. Users
    with long lists have a larger weight there, and none is excluded.
    """

    precision: float
    recall: float
    f_score: float
    pooled_f_score: float
    people: int
    left_out: int


def ranking(
    users: Codes, items: Codes, predicted: Numbers, relevant: Mask, length: int = LIST_LENGTH
) -> Ranking:
    """Return precision, recall and F-score of each user's best `length` *test* items.

    A user's list are their test items by decreasing prediction, ties by item id (lower first), cut
    after `length`. With h relevant items in a list of l, out of R relevant test items: precision =
    h / l, recall = h / R, F = 2 h / (l + R), their harmonic mean (0 when h is 0). Each metric is a
    mean over the users with R > 0, and NaN without any. Pooled, F = 2 sum h / sum (l + R) over all
    users.
    """
    order = np.lexsort((items, -predicted, users))
    person, hit = users[order], relevant[order]
    starts = np.flatnonzero(np.append(True, person[1:] != person[:-1]))
    sizes = np.diff(np.append(starts, len(person)))
    position = np.arange(len(person)) - np.repeat(starts, sizes)
    wanted = np.add.reduceat(hit.astype(np.int64), starts)
    hits = np.add.reduceat((hit & (position < length)).astype(np.int64), starts)
    listed = np.minimum(sizes, length)
    some = wanted > 0
    h, l, r = hits[some], listed[some], wanted[some]  # noqa: E741
    return Ranking(
        precision=_mean(h / l),
        recall=_mean(h / r),
        f_score=_mean(2 * h / (l + r)),
        pooled_f_score=2 * int(hits.sum()) / max(1, int(listed.sum() + wanted.sum())),
        people=int(some.sum()),
        left_out=int((~some).sum()),
    )


def _mean(values: Numbers) -> float:
    return float(values.mean()) if len(values) else float("nan")


# Error by number of ratings: deciles of users by activity, and of items by popularity.

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
