"""DPALS (Chien et al. 2021): alternating least squares with noisy item updates.

In each step every person's rows are solved from their own ratings, and scaled to length 1; then

    A_j = sum over people of s_j u u' + noise
    h_j = sum over people of s_j (r_j - mu - b_j - b_u) u + noise

for the items that are rated enough to tell, and v_j follows from A_j v_j = h_j. Only these noisy
sums are released. The weights s (adaptive weights, Krichene et al. 2023) spread what one person may
add over *all* their ratings, rare items first: s_j proportional to (noisy count of j)^-rarity.
Unlike the papers, a rating meets a row that has not seen it (`cross_fit`), A_j is drawn towards the
mean of all items where it is noise, and v_j is the mean of a posterior that knows how much of h_j
is noise (`posterior`). A last release asks how strong the factors should be (`strength`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.moments import weighted_sums
from tacit.models.fitted import Fitted
from tacit.public_priors import RATING_SPREAD
from tacit.ratings import Ratings
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.cross_fit import CrossFit, unattenuated
from tacit.training.person.crossing import Crossing
from tacit.training.person.fitted_model import ItemSide, precisions
from tacit.training.person.item_means import LABELS, Counted, emphasis, item_means
from tacit.training.person.opening import opening
from tacit.training.person.posterior import item_rows, pooled, semidefinite
from tacit.training.person.release_schedule import TASTE_SPREAD, ReleaseSchedule
from tacit.training.person.strength import strength

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class DPALS:
    """`factors`: K, or None for as many as the budget and the noisy counts bear; 0 releases item
    means alone. `steps`: of the alternation. `rarity`: by how much rare items come first.

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
        """Release an item side at `epsilon` nats per person and `delta`, decimal strings.

        `rng` seeds the start alone, which is public. `releases` is replaced in tests only. Raises
        `RequestError` for an epsilon or a delta that promises nothing, and without the extra
        `curator`; `CertificateError` where the account does not balance.
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
        crossing: Crossing | None = None,
    ) -> ItemSide:
        """Spend what `account` has not reserved. `crossing`: where tastes are learnt in one domain
        to tell another; how many people link them is released with noise, too. Raises as `fit`.
        """
        canonical, known, plan = opening(
            ratings, account, steps=self.steps, factors=self.factors, crossing=crossing
        )
        account.allot(plan.shares)
        items = item_means(canonical, known, account, crossing)[:, None]
        if plan.factors:
            asked = known.weights**-self.rarity * emphasis(canonical, crossing)
            head = Head.of(canonical, known, items[:, 0], plan.head, asked)
            found = head.tastes(plan, account, rng, advance)
            items = np.pad(items, ((0, 0), (0, found.shape[1])))
            items[plan.head, 1:] = found
        advance(1.0)
        return ItemSide(self.name, ratings, known.mu, items)


@dataclass(frozen=True, eq=False)
class Head:
    """The items that get factors, and everybody's ratings of them.

    `means`: b; `wanted`: what weights are in proportion to; `rated`: the noisy weight of each, all
    of shape (items,). `raters`: how many people rated, noisy.
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
        asked: Doubles,
    ) -> "Head":
        """The head of everybody's ratings: `head`, shape (items,), says which items, and `asked`
        what weights of all items are in proportion to."""
        few = canonical.where(head, np.cumsum(head) - 1, int(head.sum()))
        rated = known.weights[head]
        return cls(few, means[head], asked[head], rated, known.mu, known.raters)

    def tastes(
        self, plan: ReleaseSchedule, account: Account, rng: int, advance: Callable[[float], None]
    ) -> Doubles:
        """The items' factors after all steps, shape (items, K), or (items, 0) if none help."""
        factors = plan.factors
        start = np.random.default_rng(rng).standard_normal((len(self.means), factors))
        tastes = TASTE_SPREAD * self.canonical.half * start / np.sqrt(factors)
        for step in range(plan.steps):
            tastes = self.step(tastes, f"{step}", account)
            advance((step + 1) / plan.steps)
        a = strength(self.canonical, self.targets, tastes, self.precision(factors), account)
        return a * tastes if a else tastes[:, :0]

    @property
    def targets(self) -> Doubles:
        """What ratings are above mu and their item's mean, shape (n,)."""
        return self.canonical.values - self.mu - self.means[self.canonical.item]

    def precision(self, factors: int) -> Doubles:
        """Of the prior of a person's row, shape (1 + K,)."""
        return precisions(self.canonical.half, factors)

    def step(self, tastes: Doubles, number: str, account: Account) -> Doubles:
        """Spend `gram` and `pull`: the items' factors, given what people's rows they lead to."""
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
        """The items' factors behind noisy A and h, in units in which people's rows are white."""
        variance = (RATING_SPREAD * 2 * self.canonical.half) ** 2
        trace = unit_trace(gram)
        vectors, mean = pooled(gram, trace, gram_noise)
        whiten = root(contributions.unpacked(mean[None])[0])
        A = semidefinite(whiten @ contributions.unpacked(vectors) @ whiten)
        noise = pull_noise**2 * whiten @ whiten + self.raters / trace.sum() * variance * A
        found = item_rows(A, pull @ whiten, noise, TASTE_SPREAD * self.canonical.half)
        each = (self.rated.sum() / self.raters) ** 2  # n ratings weigh sqrt(n) together
        return unattenuated(found, self.rated, each, variance)

    def _gram(
        self, weights: Doubles, fit: CrossFit, name: str, account: Account
    ) -> tuple[Doubles, float]:
        """Noisy packed A, shape (items, D), and the standard deviation of an entry's noise."""
        whole = contributions.whole_rows
        grid = contributions.grid(account.multiplier(name))
        packed = whole(contributions.packed(fit.rows), grid.rows)
        steps = contributions.whole(
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
        """Noisy h, shape (items, K), of weighted labels of norm 1 a person; and its noise."""
        grid = contributions.grid(account.multiplier(name))
        steps = contributions.whole(
            labels, self.canonical.person, self.canonical.people, grid.weights
        )
        rows = contributions.whole_rows(fit.rows, grid.rows)
        totals = weighted_sums(fit.items(self.canonical.items), steps, rows)
        sensitivity = contributions.any_sensitivity(grid)
        noisy = account.gaussian(name, totals, sensitivity=sensitivity)
        return noisy / (grid.weights * grid.rows), 2 * account.multiplier(name)


def unit_trace(gram: Doubles) -> Doubles:
    """The sum of an item's weights s, read off its noisy A: rows have length 1; at least 1."""
    matrices = contributions.unpacked(gram)
    return np.maximum(np.trace(matrices, axis1=1, axis2=2), 1.0)


def root(matrix: Doubles) -> Doubles:
    """The inverse root of a noisy mean of u u', whose trace is 1; directions never seen count as
    a thousandth of their share.

    Shape (K, K).
    """
    values, axes = np.linalg.eigh(matrix)
    return (axes / np.sqrt(np.maximum(values, 1e-3 / len(matrix)))) @ axes.T
