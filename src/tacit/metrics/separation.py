"""How well a score tells two groups apart."""

import numpy as np
from numpy.typing import NDArray

from tacit.ratings import Mask

Scores = NDArray[np.float64]


def auc(scores: Scores, inside: Mask) -> float:
    """The chance that somebody of the group is above somebody of the others; ties count half.

    `scores`, `inside`: shape (n,). NaN where either group is empty.
    """
    ranks = _middle_ranks(scores)
    n, others = int(inside.sum()), int((~inside).sum())
    if n == 0 or others == 0:
        return float("nan")
    return float((ranks[inside].sum() - n * (n + 1) / 2) / (n * others))


def auc_error(n: int, others: int) -> float:
    """The standard error of `auc` where the score says nothing (Mann and Whitney 1947)."""
    return float(np.sqrt((n + others + 1) / (12 * n * others)))


def true_positives(scores: Scores, inside: Mask, false_positives: float) -> float:
    """The share of the group above a threshold that at most this share of the others is above.

    `scores`, `inside`: shape (n,); the threshold is one of the others' scores, so none of these is
    above it where `false_positives` is less than one of them.
    """
    others = np.sort(scores[~inside])[::-1]
    allowed = int(np.floor(false_positives * len(others) + 1e-9))
    threshold = others[min(allowed, len(others) - 1)]
    return float((scores[inside] > threshold).mean())


def _middle_ranks(scores: Scores) -> Scores:
    """Ranks from 1, those of equals their mean."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[place]
