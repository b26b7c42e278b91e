"""Separation of two groups by a score."""

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Mask

Scores = NDArray[np.float64]


def auc(scores: Scores, inside: Mask) -> float:
    """Return the probability that a member of the group scores above a non-member; ties count half.

    `scores`, `inside`: shape (n,). NaN if either group is empty.
    """
    ranks = _middle_ranks(scores)
    n, others = int(inside.sum()), int((~inside).sum())
    if n == 0 or others == 0:
        return float("nan")
    return float((ranks[inside].sum() - n * (n + 1) / 2) / (n * others))


def auc_error(n: int, others: int) -> float:
    """Return the standard error of `auc` for an uninformative score (Mann and Whitney 1947)."""
    return float(np.sqrt((n + others + 1) / (12 * n * others)))


def true_positives(scores: Scores, inside: Mask, false_positives: float) -> float:
    """Return the true-positive rate at a false-positive rate of at most `false_positives`.

    `scores`, `inside`: shape (n,). The threshold is a score of a non-member, so none of these
    exceeds it if `false_positives` is less than one of them.
    """
    others = np.sort(scores[~inside])[::-1]
    allowed = int(np.floor(false_positives * len(others) + 1e-9))
    threshold = others[min(allowed, len(others) - 1)]
    return float((scores[inside] > threshold).mean())


def _middle_ranks(scores: Scores) -> Scores:
    """Return ranks from 1, with ties at their mean."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]
