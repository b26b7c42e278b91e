"""Estimates of Xian et al. from raw ratings (formula (4)), without noise and so without epsilon.

    b_i = sum over u of (r_ui - mu) / (lambda_2 + n_i)
    b_u = sum over i of (r_ui - mu - b_i) / (lambda_3 + n_u)

Koren's damped means. The formula has a third line, for y_j, whose text is lost except that it is an
estimate of the same kind: `mean_factors` is the one that needs no factors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.models.least_squares.als_svd import ITEM_DAMPING, PERSON_DAMPING
from tacit.models.svd import STARS
from tacit.training.mechanism.noisy_releases import NoisyReleases
from tacit.training.value.integer_ratings import IntegerRatings

Doubles = NDArray[np.float64]

IMPLICIT_DAMPING = 25.0
"""lambda_4, which is lost. This value is ours, the one of items."""


@dataclass(frozen=True, eq=False)
class RawLevels:
    """In stars: `mean`, relative to the middle of the scale; `items` (n,) and `people` (m,)."""

    mean: float
    items: Doubles
    people: Doubles


def raw_levels(data: IntegerRatings, releases: NoisyReleases) -> RawLevels:
    """Return mu, b_i and b_u by equation (4), from raw ratings: no noise, and so no epsilon."""
    stars = data.values / (data.width / STARS)
    mean = float(releases.public("raw mean", np.array([stars.mean()]))[0])
    left = stars - mean
    raw = _damped(data.item_of, left, data.layout.items.counts, ITEM_DAMPING)
    items = releases.public("raw levels of items", raw)
    left = left - items[data.item_of]
    raw = _damped(data.user_of, left, data.layout.users.counts, PERSON_DAMPING)
    return RawLevels(mean, items, releases.public("raw levels of people", raw))


def _damped(
    rows: NDArray[np.integer], left: Doubles, counts: NDArray[np.int64], damping: float
) -> Doubles:
    return np.bincount(rows, left, len(counts)) / (damping + counts)


def mean_factors(
    data: IntegerRatings, raw: RawLevels, factors: int, releases: NoisyReleases
) -> Doubles:
    """Return y from raw means, shape (items, K): y_j = s_j (1, .., 1) / sqrt K, where

        s_j = sum over u of (r_uj - mu - b_u - b_j) / (lambda_4 + n_j)

    One number per item, spread evenly over its K entries: all that a closed form without factors
    determines.
    """
    left = data.values / (data.width / STARS) - raw.mean
    left = left - raw.items[data.item_of] - raw.people[data.user_of]
    damped = _damped(data.item_of, left, data.layout.items.counts, IMPLICIT_DAMPING)
    means = releases.public("raw implicit means", damped)
    return np.repeat(means[:, None], factors, axis=1) / np.sqrt(factors)
