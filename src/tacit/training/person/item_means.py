"""Item means of a curator from noisy totals, without access to raw means, counts or item lists.

    level        sum over users of (user means, 1s)             -> mu, and how many users rated
    counts       sum over users of s_j                          -> how much each item was rated
    rough means  sum over users of s_j (r_j - mu - own)         -> b_j, shrunk by the noise
    means        sum over users of s_j (r_j - mu - b_j - own')  -> correction of b_j

s is a user's weights, ||s|| <= 1. A user's own bias is subtracted from their ratings on the device,
which narrows the labels. The first own bias is a mean around mu, so a user who rates good items
looks like one who rates everything high; own' is a mean around the rough item means. Weights of all
sums are bounded in the same way, so bounding the labels adds almost no bias.

Item biases from noisy sums: h_j = W_j b_j + noise. Post-processing of releases.

Frequently rated items are liked more, so the prior uses the frequency:

    b_j ~ N(x_j . c, t^2),    x_j = (1, log W_j standardised) among the items of j's domain.

c is the generalised least squares estimate with shrinkage to zero. t^2 is the mean of (b - x c)^2
plus its posterior variance over the items, iterated (EM).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.als import weighted_sums
from tacit.scale import OWN_BIAS_RIDGE, RATING_SPREAD
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.noisy_counts import noisy_counts

# Cross-domain inputs of a trainer: users with ratings in both domains, and the target domain.

SOURCE_WEIGHT = 0.5
"""Weight of a source rating in all sums, relative to a target rating.

Source ratings determine a user's row, for which item means, averaged over a profile, may be coarse.
Target ratings determine the predicted items."""


@dataclass(frozen=True, eq=False)
class CrossDomain:
    """Cross-domain inputs.

    `links`: users with ratings in the target and elsewhere, shape (users,), secret. `domain`: of
    each item, shape (items,), public. `target`: one of the domains, public.
    """

    links: NDArray[np.bool_]
    domain: NDArray[np.int64]
    target: int

    @property
    def target_items(self) -> NDArray[np.bool_]:
        """Items of the target domain, shape (items,)."""
        return self.domain == self.target

    @property
    def emphasis(self) -> NDArray[np.float64]:
        """Relative weights of items in a user's contribution, shape (items,)."""
        return np.where(self.target_items, 1.0, SOURCE_WEIGHT)


Doubles = NDArray[np.float64]
ROUNDS = 30
LEAST = 1e-9  # least variance, against division by zero


def item_levels(
    weights: Doubles, pull: Doubles, noise: Doubles, spread: float, group: NDArray[np.int64]
) -> Doubles:
    """Return b, shape (items,). `weights`: W, above 0. `pull`: h. `noise`: variances of h.

    `spread`: initial standard deviation of biases, and prior deviation of coefficients. `group`:
    the domain of each item.
    """
    seen, doubt = pull / weights, noise / weights**2
    x = _features(weights, group)
    variance, levels = spread**2, seen
    for _ in range(ROUNDS):
        precise = 1 / (doubt + variance)
        normal = (x.T * precise) @ x + np.eye(x.shape[1]) / spread**2
        prior = x @ np.linalg.solve(normal, x.T @ (precise * seen))
        reliability = variance * precise
        levels = prior + reliability * (seen - prior)
        variance = max(float(np.mean((levels - prior) ** 2 + variance * (1 - reliability))), LEAST)
    return levels


def _features(weights: Doubles, group: NDArray[np.int64]) -> Doubles:
    columns = list[Doubles]()
    for number in np.unique(group):
        mine = group == number
        often = np.log(weights) - np.log(weights[mine]).mean()
        spread = float(often[mine].std())
        columns += [mine * 1.0, mine * often / max(spread, LEAST)]
    return np.stack(columns, 1)


Longs = NDArray[np.int64]
LABELS = 0.45  # norm bound of a user's weighted labels, as a fraction of half the range
CLEAR = 6.0  # noise deviations above which a count is significant
MEANS_IN_TURN = ("rough means", "means")
ITEM_SPREAD = 0.2  # initial deviation of item means, as a fraction of half the range


@dataclass(frozen=True, eq=False)
class Counted:
    """Released counts.

    `mu`: relative to the middle of the scale. `start`: mean of each item's domain relative to mu,
    shape (items,). `raters`: users with a rating. `weights`: W_j = sum of s_j, shape (items,),
    `noise` its standard deviation.
    """

    mu: float
    start: Doubles
    raters: float
    weights: Doubles
    noise: float

    @property
    def share(self) -> float:
        """Mean weight s of a rating: sum s^2, one per user, over sum s."""
        return self.raters / max(float(self.weights.sum()), 1.0)


def counted(
    canonical: CanonicalRatings, account: Account, cross_domain: CrossDomain | None = None
) -> Counted:
    """Release `level` and `counts`."""
    mu, start, raters = _levels(canonical, account, cross_domain)
    wanted, labels = emphasis(canonical, cross_domain), _labels(canonical, mu, start)
    weights = contributions.weights(canonical, wanted, labels, _bound(canonical))
    counts = noisy_counts("counts", canonical, weights, account)
    return Counted(mu, start, raters, np.maximum(counts.values, counts.noise / 2), counts.noise)


def noisy_level(canonical: CanonicalRatings, account: Account) -> float:
    """Release `level`. Returns the mean rating relative to the middle of the scale."""
    return _levels(canonical, account, None)[0]


def linked_share(links: NDArray[np.bool_], counted: Counted, account: Account) -> float:
    """Release `links`: the noisy fraction of users with a rating in several domains.

    `links`: which users, shape (users,). Each user counts once or not at all, so the sensitivity is
    1. A count that is not significant is replaced by 0.
    """
    total = np.array([np.count_nonzero(links)], np.int64)
    noisy = float(account.gaussian("links", total, sensitivity=1)[0])
    clear = noisy > CLEAR * account.multiplier("links")
    return min(noisy / counted.raters, 1.0) if clear else 0.0


def item_means(
    canonical: CanonicalRatings,
    counted: Counted,
    account: Account,
    cross_domain: CrossDomain | None = None,
) -> Doubles:
    """Release `rough means` and `means`. Returns b, shape (items,)."""
    wanted = emphasis(canonical, cross_domain)
    group, means = _domains(canonical, cross_domain), counted.start
    for name in MEANS_IN_TURN:
        pull, noise = _pull(name, canonical, counted, means, wanted, account)
        pull += counted.weights * means
        means = item_levels(counted.weights, pull, noise, ITEM_SPREAD * canonical.half, group)
    return means


def own_levels(canonical: CanonicalRatings, mu: float, means: Doubles) -> Doubles:
    """Return every user's mean around mu and `means` (items,), damped as on the device."""
    around = canonical.of_person(canonical.values - mu - means[canonical.item])
    return around / (canonical.users.counts + OWN_BIAS_RIDGE)


def emphasis(canonical: CanonicalRatings, cross_domain: CrossDomain | None) -> Doubles:
    """Return relative weights of items, shape (items,): equal, or larger in the target domain."""
    if cross_domain is None:
        return np.ones(len(canonical.items.start) - 1)
    return cross_domain.emphasis


def _pull(
    name: str,
    canonical: CanonicalRatings,
    counted: Counted,
    means: Doubles,
    wanted: Doubles,
    account: Account,
) -> tuple[Doubles, Doubles]:
    """Release `name`: sums of labels around `means`. Returns them and their noise variances.

    Shapes (items,).
    """
    labels, most = _labels(canonical, counted.mu, means), _bound(canonical)
    weights = contributions.weights(canonical, wanted, labels, most)
    bound = contributions.count_grid(account.multiplier(name))
    steps = contributions.rounded(
        weights * labels / most, canonical.person, canonical.people, bound
    )
    totals = weighted_sums(canonical.items, steps, np.ones((canonical.people, 1), np.int32))[:, 0]
    noisy = account.gaussian(name, totals, sensitivity=2 * bound)
    drawn = (2 * account.multiplier(name) * most) ** 2
    rating_noise = (RATING_SPREAD * 2 * canonical.half) ** 2 * counted.share * counted.weights
    return np.asarray(noisy * (most / bound), np.float64), drawn + rating_noise


def _levels(
    canonical: CanonicalRatings, account: Account, cross_domain: CrossDomain | None
) -> tuple[float, Doubles, float]:
    domain = _domains(canonical, cross_domain)
    domains = int(domain.max()) + 1
    user_means = _user_means(canonical, domain, domains)
    scale = np.sqrt(user_means.shape[1])
    bound = contributions.count_grid(account.multiplier("level"))
    steps = contributions.rounded_rows(user_means / scale, bound)
    noisy = account.gaussian("level", steps.sum(0, dtype=np.int64), sensitivity=2 * bound)
    totals = noisy * scale / bound
    each = np.clip(totals[domains:-1], 1.0, canonical.people)
    mean = np.clip(totals[:domains] / each, -1, 1) * canonical.half
    mu = float(mean @ each / each.sum())
    return mu, (mean - mu)[domain], float(np.clip(totals[-1], 1.0, canonical.people))


def _domains(canonical: CanonicalRatings, cross_domain: CrossDomain | None) -> Longs:
    if cross_domain is None:
        return np.zeros(len(canonical.items.start) - 1, np.int64)
    return cross_domain.domain


def _user_means(canonical: CanonicalRatings, domain: Longs, domains: int) -> Doubles:
    """Return each user's mean per domain, whether they rated there, and at all; entries up to 1."""
    cell = canonical.person * domains + domain[canonical.item]
    counts = np.bincount(cell, minlength=canonical.people * domains)
    sums = np.bincount(cell, canonical.values, canonical.people * domains)
    means = (sums / np.maximum(counts, 1) / canonical.half).reshape(-1, domains)
    rated = (counts > 0).reshape(-1, domains)
    return np.column_stack([means, rated.astype(np.float64), rated.any(1).astype(np.float64)])


def _labels(canonical: CanonicalRatings, mu: float, means: Doubles) -> Doubles:
    user_levels = own_levels(canonical, mu, means)[canonical.person]
    return canonical.values - mu - means[canonical.item] - user_levels


def _bound(canonical: CanonicalRatings) -> float:
    return LABELS * canonical.half
