"""DPALS (Chien et al. 2021): alternating least squares with noisy item updates.

In each step every user's row is solved from the user's own ratings, and scaled to length 1. Then

    A_j = sum over users of s_j u u' + noise
    h_j = sum over users of s_j (r_j - mu - b_j - b_u) u + noise

for the items with enough ratings, and v_j solves A_j v_j = h_j. Only these noisy sums are released.
The weights s (adaptive weights, Krichene et al. 2023) spread a user's bounded contribution over
*all* their ratings, rare items first: s_j proportional to (noisy count of j)^-rarity. Unlike the
papers, a rating is paired with a row fitted without it (`cross_fit`), A_j is shrunk towards the
mean of all items where it is noisy, and v_j is a posterior mean that accounts for the noise in h_j
(`posterior`). A last release scales the factors (`factor_scale`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.als import weighted_sums
from tacit.models.fitted import Fitted
from tacit.ratings import Ratings
from tacit.scale import RATING_SPREAD
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.fitted_model import ItemSide, precisions
from tacit.training.person.item_means import LABELS, Counted, CrossDomain, emphasis, item_means
from tacit.training.person.item_rows import (
    CrossFit,
    factor_scale,
    item_rows,
    pooled,
    semidefinite,
    unattenuated,
)
from tacit.training.person.release_schedule import TASTE_SPREAD, ReleaseSchedule, first_releases

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class DPALS:
    """DPALS (Chien et al. 2021): alternating least squares with noisy item updates.

    `factors`: K, 0 to release item means alone, None for as many as the budget and the noisy counts
    allow. `steps`: of the alternation. `rarity`: exponent that favours rare items.

    Raises `RequestError` for fewer than one step, or factors below 0.
    """

    factors: int | None = None
    steps: int = 4
    rarity: float = 0.15

    name = "dpals"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        if self.steps < 1 or (self.factors or 0) < 0:
            raise RequestError(
                f"steps must be at least 1 and factors 0 or more, got steps {self.steps} and "
                f"factors {self.factors}."
            )

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        releases: NoisyReleases | None = None,
    ) -> Fitted:
        """Release an item side at `epsilon` nats per user and `delta`, decimal strings.

        `rng` seeds the initial values, which are public. `releases` is replaced in tests only.
        Raises `RequestError` for an invalid epsilon or delta, and without the extra `curator`;
        `CertificateError` if the account does not balance.
        """
        account = Account(epsilon, delta, SecretReleases() if releases is None else releases)
        return self.learn(ratings, account, rng=rng, advance=advance).closed(account)

    def learn(
        self,
        ratings: Ratings,
        account: Account,
        *,
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        cross_domain: CrossDomain | None = None,
    ) -> ItemSide:
        """Spend the unreserved budget of `account`.

        `cross_domain`: None for one domain. Otherwise the noisy number of users that link domains
        is released, too. Raises as `fit`.
        """
        canonical, known, plan = first_releases(
            ratings, account, steps=self.steps, factors=self.factors, cross_domain=cross_domain
        )
        account.allot(plan.shares)
        items = item_means(canonical, known, account, cross_domain)[:, None]
        if plan.factors:
            relative_weights = known.weights**-self.rarity * emphasis(canonical, cross_domain)
            head = Head.of(canonical, known, items[:, 0], plan.head, relative_weights)
            factors = head.tastes(plan, account, rng, advance)
            items = np.pad(items, ((0, 0), (0, factors.shape[1])))
            items[plan.head, 1:] = factors
        advance(1.0)
        return ItemSide(self.name, ratings, known.mu, items)


@dataclass(frozen=True, eq=False)
class Head:
    """Items that get factors, and all users' ratings of them.

    `means`: b. `wanted`: relative weights. `rated`: noisy weight of each. All of shape (items,).
    `raters`: noisy number of users with ratings.
    """

    canonical: CanonicalRatings
    means: Doubles
    wanted: Doubles
    rated: Doubles
    mu: float
    raters: float

    @classmethod
    def of(
        cls,
        canonical: CanonicalRatings,
        known: Counted,
        means: Doubles,
        head: NDArray[np.bool_],
        relative_weights: Doubles,
    ) -> "Head":
        """Select the items where `head` holds, shape (items,).

        `relative_weights`: of all items.
        """
        few = canonical.where(head, np.cumsum(head) - 1, int(head.sum()))
        rated = known.weights[head]
        return cls(few, means[head], relative_weights[head], rated, known.mu, known.raters)

    def tastes(
        self, plan: ReleaseSchedule, account: Account, rng: int, advance: Callable[[float], None]
    ) -> Doubles:
        """Return the items' factors after all steps, (items, K), or (items, 0) if none help."""
        factors = plan.factors
        start = np.random.default_rng(rng).standard_normal((len(self.means), factors))
        tastes = TASTE_SPREAD * self.canonical.half * start / np.sqrt(factors)
        for step in range(plan.steps):
            tastes = self.step(tastes, f"{step}", account)
            advance((step + 1) / plan.steps)
        a = factor_scale(self.canonical, self.targets, tastes, self.precision(factors), account)
        return a * tastes if a else tastes[:, :0]

    @property
    def targets(self) -> Doubles:
        """Ratings minus mu and their item's mean, shape (n,)."""
        return self.canonical.values - self.mu - self.means[self.canonical.item]

    def precision(self, factors: int) -> Doubles:
        """Return the precision of the prior of a user's row, shape (1 + K,)."""
        return precisions(self.canonical.half, factors)

    def step(self, tastes: Doubles, number: str, account: Account) -> Doubles:
        """Release `gram` and `pull`.

        Returns item factors given the user rows that `tastes` yields.
        """
        canonical, most = self.canonical, LABELS * self.canonical.half
        targets = self.targets
        fit = CrossFit.of(canonical, targets, tastes, self.precision(tastes.shape[1]))
        labels = targets - fit.levels[fit.row]
        weights = contributions.weights(canonical, self.wanted, labels, most)
        gram, gram_noise = self._gram(weights, fit, f"gram {number}", account)
        pull, pull_noise = self._pull(weights * labels / most, fit, f"pull {number}", account)
        return self._solved(gram, gram_noise, most * pull, most * pull_noise)

    def _solved(
        self, gram: Doubles, gram_noise: float, pull: Doubles, pull_noise: float
    ) -> Doubles:
        """Solve noisy A and h for the items' factors, in units in which user rows are white."""
        variance = (RATING_SPREAD * 2 * self.canonical.half) ** 2
        trace = unit_trace(gram)
        vectors, mean = pooled(gram, trace, gram_noise)
        whiten = root(contributions.unpacked(mean[None])[0])
        A = semidefinite(whiten @ contributions.unpacked(vectors) @ whiten)
        noise = pull_noise**2 * whiten @ whiten + self.raters / trace.sum() * variance * A
        factors = item_rows(A, pull @ whiten, noise, TASTE_SPREAD * self.canonical.half)
        each = (self.rated.sum() / self.raters) ** 2  # n ratings have the total weight sqrt(n)
        return unattenuated(factors, self.rated, each, variance)

    def _gram(
        self, weights: Doubles, fit: CrossFit, name: str, account: Account
    ) -> tuple[Doubles, float]:
        """Return noisy packed A, shape (items, D), and the standard deviation of its noise."""
        rounded_rows = contributions.rounded_rows
        grid = contributions.grid(account.multiplier(name))
        packed = rounded_rows(contributions.packed(fit.rows), grid.rows)
        steps = contributions.rounded(
            weights, self.canonical.person, self.canonical.people, grid.weights
        )
        totals = weighted_sums(fit.items(self.canonical.items), steps, packed)
        sensitivity = contributions.gram_sensitivity(grid, packed.shape[1])
        noisy = account.gaussian(name, totals, sensitivity=sensitivity)
        size = grid.weights * grid.rows
        return noisy / size, account.multiplier(name) * sensitivity / size

    def _pull(
        self, labels: Doubles, fit: CrossFit, name: str, account: Account
    ) -> tuple[Doubles, float]:
        """Return noisy h of weighted labels (norm 1 per user), shape (items, K), and its noise."""
        grid = contributions.grid(account.multiplier(name))
        steps = contributions.rounded(
            labels, self.canonical.person, self.canonical.people, grid.weights
        )
        rows = contributions.rounded_rows(fit.rows, grid.rows)
        totals = weighted_sums(fit.items(self.canonical.items), steps, rows)
        sensitivity = contributions.any_sensitivity(grid)
        noisy = account.gaussian(name, totals, sensitivity=sensitivity)
        return noisy / (grid.weights * grid.rows), 2 * account.multiplier(name)


def unit_trace(gram: Doubles) -> Doubles:
    """Return the sum of an item's weights s from its noisy A, at least 1: rows have length 1."""
    matrices = contributions.unpacked(gram)
    return np.maximum(np.trace(matrices, axis1=1, axis2=2), 1.0)


def root(matrix: Doubles) -> Doubles:
    """Return the inverse root of a noisy mean of u u', whose trace is 1, shape (K, K).

    Unobserved directions count as a thousandth of their share.
    """
    values, axes = np.linalg.eigh(matrix)
    return (axes / np.sqrt(np.maximum(values, 1e-3 / len(matrix)))) @ axes.T
