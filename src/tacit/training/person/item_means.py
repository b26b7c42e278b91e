"""Item means for a curator: no raw mean, count or list of items is seen, only noisy totals.

    level     sum over people of (own mean, 1)          -> mu, and how many people rated
    counts    sum over people of s_j                    -> how much each item was rated
    means     sum over people of s_j (r_j - mu - own)   -> b_j, shrunk by what is noise

s is a person's weights, ||s|| <= 1; their own level is taken out of their ratings at home, which
narrows these. `counts` and `means` have the same weights, so that bounding the labels adds no bias.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.moments import weighted_sums
from tacit.public_priors import OWN_BIAS_RIDGE, RATING_SPREAD
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.noisy_counts import noisy_counts
from tacit.training.person.posterior import item_rows

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
LABELS = 0.45  # of half the range: the norm of a person's weighted labels
CLEAR = 6.0  # deviations of noise by which a count has to be above it to be taken for one
ITEM_SPREAD = 0.2  # of half the range, to begin with: of item means around the mean of all


@dataclass(frozen=True, eq=False)
class Counted:
    """What is released of who rated how much. `mu`: less the middle of the scale. `raters`: people
    with a rating. `weights`: W_j = sum of s_j, shape (items,), `noise` its standard deviation."""

    mu: float
    raters: float
    weights: Doubles
    noise: float

    @property
    def share(self) -> float:
        """The mean weight s of a rating: sum s^2, one a person, over sum s."""
        return self.raters / max(float(self.weights.sum()), 1.0)


def counted(canonical: CanonicalRatings, account: Account) -> Counted:
    """Spend `level` and `counts`."""
    mu, raters = _level(canonical, account)
    weights = contributions.weights(
        canonical, _even(canonical), _labels(canonical, mu), _bound(canonical)
    )
    found = noisy_counts("counts", canonical, weights, account)
    return Counted(mu, raters, np.maximum(found.values, found.noise / 2), found.noise)


def linked_share(links: NDArray[np.bool_], counted: Counted, account: Account) -> float:
    """Spend `links`: the noisy share of people with a rating in several domains; `links` says who.

    One person is one of them or not, so that the count has sensitivity 1. A count that does not
    stand out of its noise is taken for 0. `links`: shape (people,).
    """
    total = np.array([np.count_nonzero(links)], np.int64)
    noisy = float(account.gaussian("links", total, sensitivity=1)[0])
    clear = noisy > CLEAR * account.multiplier("links")
    return min(noisy / counted.raters, 1.0) if clear else 0.0


def item_means(canonical: CanonicalRatings, counted: Counted, account: Account) -> Doubles:
    """Spend `means`: b, shape (items,)."""
    labels, most = _labels(canonical, counted.mu), _bound(canonical)
    weights = contributions.weights(canonical, _even(canonical), labels, most)
    bound = contributions.count_grid(account.multiplier("means"))
    steps = contributions.whole(weights * labels / most, canonical.person, canonical.people, bound)
    totals = weighted_sums(canonical.items, steps, np.ones((canonical.people, 1), np.int32))[:, 0]
    noisy = account.gaussian("means", totals, sensitivity=2 * bound)
    noise = (2 * account.multiplier("means") * most) ** 2
    own = (RATING_SPREAD * 2 * canonical.half) ** 2 * counted.share * counted.weights
    gram = counted.weights[:, None, None]
    pull = np.asarray(noisy[:, None] * (most / bound), np.float64)
    return item_rows(gram, pull, noise + own[:, None, None], ITEM_SPREAD * canonical.half)[:, 0]


def own_levels(canonical: CanonicalRatings, mu: float) -> Doubles:
    """Every person's mean around mu, damped as a device does it; shape (people,)."""
    return canonical.of_person(canonical.values - mu) / (canonical.users.counts + OWN_BIAS_RIDGE)


def _level(canonical: CanonicalRatings, account: Account) -> tuple[float, float]:
    counts = canonical.users.counts
    mean = canonical.of_person(canonical.values) / np.maximum(counts, 1)
    pair = np.column_stack([mean / canonical.half, np.where(counts > 0, 1.0, 0.0)]) / np.sqrt(2)
    bound = contributions.count_grid(account.multiplier("level"))
    steps = contributions.whole_rows(pair, bound)
    totals = steps.sum(0, dtype=np.int64)
    noisy = account.gaussian("level", totals, sensitivity=2 * bound)
    raters = max(float(noisy[1]) * np.sqrt(2) / bound, 1.0)
    mu = float(noisy[0]) * np.sqrt(2) / bound / raters * canonical.half
    return float(np.clip(mu, -canonical.half, canonical.half)), min(raters, float(canonical.people))


def _even(canonical: CanonicalRatings) -> Doubles:
    return np.ones(len(canonical.items.start) - 1)


def _labels(canonical: CanonicalRatings, mu: float) -> Doubles:
    return canonical.values - mu - own_levels(canonical, mu)[canonical.person]


def _bound(canonical: CanonicalRatings) -> float:
    return LABELS * canonical.half
