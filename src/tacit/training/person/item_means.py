"""Item means for a curator: no raw mean, count or list of items is seen, only noisy totals.

    level        sum over people of (own means, 1s)              -> mu, and how many people rated
    counts       sum over people of s_j                          -> how much each item was rated
    rough means  sum over people of s_j (r_j - mu - own)         -> b_j, shrunk by what is noise
    means        sum over people of s_j (r_j - mu - b_j - own')  -> what b_j lacked

s is a person's weights, ||s|| <= 1; their own level is taken out of their ratings at home, which
narrows these. The first own level is a mean around mu, so whoever rates good items looks like
somebody who likes everything; own' is a mean around what the rough means made of the items. Weights
of all sums are bounded in the same way, so that bounding the labels adds next to no bias.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.moments import weighted_sums
from tacit.public_priors import OWN_BIAS_RIDGE, RATING_SPREAD
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.crossing import Crossing
from tacit.training.person.item_levels import item_levels
from tacit.training.person.noisy_counts import noisy_counts

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
LABELS = 0.45  # of half the range: the norm of a person's weighted labels
CLEAR = 6.0  # deviations of noise by which a count has to be above it to be taken for one
MEANS_IN_TURN = ("rough means", "means")
ITEM_SPREAD = 0.2  # of half the range, to begin with: of item means around the mean of all


@dataclass(frozen=True, eq=False)
class Counted:
    """What is released of who rated how much. `mu`: less the middle of the scale. `start`: what
    each item's domain has above mu, shape (items,). `raters`: people with a rating. `weights`:
    W_j = sum of s_j, shape (items,), `noise` its standard deviation."""

    mu: float
    start: Doubles
    raters: float
    weights: Doubles
    noise: float

    @property
    def share(self) -> float:
        """The mean weight s of a rating: sum s^2, one a person, over sum s."""
        return self.raters / max(float(self.weights.sum()), 1.0)


def counted(
    canonical: CanonicalRatings, account: Account, crossing: Crossing | None = None
) -> Counted:
    """Spend `level` and `counts`."""
    mu, start, raters = _levels(canonical, account, crossing)
    wanted, labels = emphasis(canonical, crossing), _labels(canonical, mu, start)
    weights = contributions.weights(canonical, wanted, labels, _bound(canonical))
    found = noisy_counts("counts", canonical, weights, account)
    return Counted(mu, start, raters, np.maximum(found.values, found.noise / 2), found.noise)


def linked_share(links: NDArray[np.bool_], counted: Counted, account: Account) -> float:
    """Spend `links`: the noisy share of people with a rating in several domains; `links` says who.

    One person is one of them or not, so that the count has sensitivity 1. A count that does not
    stand out of its noise is taken for 0. `links`: shape (people,).
    """
    total = np.array([np.count_nonzero(links)], np.int64)
    noisy = float(account.gaussian("links", total, sensitivity=1)[0])
    clear = noisy > CLEAR * account.multiplier("links")
    return min(noisy / counted.raters, 1.0) if clear else 0.0


def item_means(
    canonical: CanonicalRatings,
    counted: Counted,
    account: Account,
    crossing: Crossing | None = None,
) -> Doubles:
    """Spend `rough means` and `means`: b, shape (items,)."""
    wanted = emphasis(canonical, crossing)
    group, means = _domains(canonical, crossing), counted.start
    for name in MEANS_IN_TURN:
        pull, noise = _pull(name, canonical, counted, means, wanted, account)
        pull += counted.weights * means
        means = item_levels(counted.weights, pull, noise, ITEM_SPREAD * canonical.half, group)
    return means


def own_levels(canonical: CanonicalRatings, mu: float, means: Doubles) -> Doubles:
    """Every person's mean around mu and `means` (items,), damped as a device does it; (people,)."""
    around = canonical.of_person(canonical.values - mu - means[canonical.item])
    return around / (canonical.users.counts + OWN_BIAS_RIDGE)


def emphasis(canonical: CanonicalRatings, crossing: Crossing | None) -> Doubles:
    """What weights are in proportion to: all items alike, or those of a target first; (items,)."""
    if crossing is None:
        return np.ones(len(canonical.items.start) - 1)
    return crossing.emphasis


def _pull(
    name: str,
    canonical: CanonicalRatings,
    counted: Counted,
    means: Doubles,
    wanted: Doubles,
    account: Account,
) -> tuple[Doubles, Doubles]:
    """Spend `name`: sums of labels around `means`, and the variances of their noise; (items,)."""
    labels, most = _labels(canonical, counted.mu, means), _bound(canonical)
    weights = contributions.weights(canonical, wanted, labels, most)
    bound = contributions.count_grid(account.multiplier(name))
    steps = contributions.whole(weights * labels / most, canonical.person, canonical.people, bound)
    totals = weighted_sums(canonical.items, steps, np.ones((canonical.people, 1), np.int32))[:, 0]
    noisy = account.gaussian(name, totals, sensitivity=2 * bound)
    drawn = (2 * account.multiplier(name) * most) ** 2
    own = (RATING_SPREAD * 2 * canonical.half) ** 2 * counted.share * counted.weights
    return np.asarray(noisy * (most / bound), np.float64), drawn + own


def _levels(
    canonical: CanonicalRatings, account: Account, crossing: Crossing | None
) -> tuple[float, Doubles, float]:
    domain = _domains(canonical, crossing)
    domains = int(domain.max()) + 1
    told = _own_means(canonical, domain, domains)
    scale = np.sqrt(told.shape[1])
    bound = contributions.count_grid(account.multiplier("level"))
    steps = contributions.whole_rows(told / scale, bound)
    noisy = account.gaussian("level", steps.sum(0, dtype=np.int64), sensitivity=2 * bound)
    totals = noisy * scale / bound
    each = np.clip(totals[domains:-1], 1.0, canonical.people)
    mean = np.clip(totals[:domains] / each, -1, 1) * canonical.half
    mu = float(mean @ each / each.sum())
    return mu, (mean - mu)[domain], float(np.clip(totals[-1], 1.0, canonical.people))


def _domains(canonical: CanonicalRatings, crossing: Crossing | None) -> Longs:
    if crossing is None:
        return np.zeros(len(canonical.items.start) - 1, np.int64)
    return crossing.domain


def _own_means(canonical: CanonicalRatings, domain: Longs, domains: int) -> Doubles:
    """Everybody's mean in each domain, whether they rated there, and at all; entries up to 1."""
    cell = canonical.person * domains + domain[canonical.item]
    counts = np.bincount(cell, minlength=canonical.people * domains)
    sums = np.bincount(cell, canonical.values, canonical.people * domains)
    means = (sums / np.maximum(counts, 1) / canonical.half).reshape(-1, domains)
    rated = (counts > 0).reshape(-1, domains)
    return np.column_stack([means, rated.astype(np.float64), rated.any(1).astype(np.float64)])


def _labels(canonical: CanonicalRatings, mu: float, means: Doubles) -> Doubles:
    own = own_levels(canonical, mu, means)[canonical.person]
    return canonical.values - mu - means[canonical.item] - own


def _bound(canonical: CanonicalRatings) -> float:
    return LABELS * canonical.half
