"""Accuracy of predictions on held-out true ratings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Codes, Mask
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
