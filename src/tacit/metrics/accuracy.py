"""How good predictions are on held-out true ratings."""

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
    """Root mean square error, sqrt(mean((r - p)^2)), in units of the scale.

    `true` and `predicted`: shape (n,).
    """
    difference = true.astype(np.float64) - predicted
    return float(np.sqrt(np.mean(difference * difference)))


def mae(true: Numbers, predicted: Numbers) -> float:
    """Mean absolute error, mean(|r - p|), in units of the scale.

    `true` and `predicted`: shape (n,).
    """
    return float(np.mean(np.abs(true.astype(np.float64) - predicted)))


def relevant_from(scale: RatingScale) -> float:
    """The rating from which an item is relevant: lo + .75 (hi - lo), which is 4 on 1 to 5.

    Raises `RequestError` for the scale `there`.
    """
    scale.require_stars("The relevance of a rating")
    low, high = float(scale.low), float(scale.high)
    return low + RELEVANT_SHARE * (high - low)


@dataclass(frozen=True)
class Ranking:
    """Means over `people`; those without a relevant test item are left out and counted.

    `pooled_f_score`: of one confusion matrix of everybody's lists, as Neera et al. define F; there
    who has long lists counts for more, and nobody is left out.
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
    """Precision, recall and F-score of each person's best `length` *test* items.

    A person's list is their test items by falling prediction, ties by item id (lower first), cut
    after `length`. With h relevant items in a list of l, out of R relevant test items:
    precision = h / l, recall = h / R, F = 2 h / (l + R), their harmonic mean (0 when h is 0).
    Each figure is a mean over the people with R > 0, and NaN when there are none. Pooled,
    F = 2 sum h / sum (l + R) over everybody.
    """
    order = np.lexsort((items, -predicted, users))
    person, hit = users[order], relevant[order]
    starts = np.flatnonzero(np.append(True, person[1:] != person[:-1]))
    sizes = np.diff(np.append(starts, len(person)))
    place = np.arange(len(person)) - np.repeat(starts, sizes)
    wanted = np.add.reduceat(hit.astype(np.int64), starts)
    found = np.add.reduceat((hit & (place < length)).astype(np.int64), starts)
    listed = np.minimum(sizes, length)
    some = wanted > 0
    h, l, r = found[some], listed[some], wanted[some]  # noqa: E741
    return Ranking(
        precision=_mean(h / l),
        recall=_mean(h / r),
        f_score=_mean(2 * h / (l + r)),
        pooled_f_score=2 * int(found.sum()) / max(1, int(listed.sum() + wanted.sum())),
        people=int(some.sum()),
        left_out=int((~some).sum()),
    )


def _mean(values: Numbers) -> float:
    return float(values.mean()) if len(values) else float("nan")
