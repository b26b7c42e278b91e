"""dpals (Chien et al. 2021): alternating least squares whose item half is released with noise.

In each step every person's row is solved from her own ratings, and scaled to length 1; then

    A_j = sum over people of s_j u u' + noise
    h_j = sum over people of s_j (r_j - mu - b_j - b_u) u + noise

for the items that are rated enough to tell, and v_j follows from A_j v_j = h_j. Only these noisy
sums are released. The weights s (adaptive weights, Krichene et al. 2023) spread what one person may
add over *all* her ratings, rare items first: s_j proportional to (noisy count of j)^-rarity. Beside
the papers, A_j is drawn towards the mean of all items where it is noise, and v_j is the mean of a
posterior that knows how much of h_j is noise (`posterior`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.curator import contributions
from tacit.curator.accounting import Account
from tacit.curator.contributions import Crowd
from tacit.curator.means import LABELS, Counted, counted, item_means, linked_share
from tacit.curator.outline import FIRST, FIRST_LINKED, TASTE_SPREAD, Outline, outline
from tacit.curator.posterior import item_rows, pooled, semidefinite
from tacit.curator.released import precisions, released
from tacit.curator.releases import Releases, SecretReleases
from tacit.errors import RequestError
from tacit.kernels.foldin import Home, fold_in
from tacit.kernels.moments import weighted_sums
from tacit.models.fitted import Fitted
from tacit.models.likelihood import SPREAD
from tacit.ratings import Ratings

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

    def __post_init__(self) -> None:
        if self.steps < 1 or (self.factors or 0) < 0:
            raise RequestError(
                f"{self.steps} steps with {self.factors} factors learn nothing; give 1 step or "
                "more, and 0 factors or more."
            )

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        releases: Releases | None = None,
        links: NDArray[np.bool_] | None = None,
    ) -> Fitted:
        """Release an item side at `epsilon` nats per person and `delta`, decimal strings.

        `rng` seeds the start alone, which is public. `releases` is replaced in tests only.
        `links`: people (people,) through whom alone tastes tell what is asked, if not through all;
        their number is released with noise, too. Raises
        `RequestError` for an epsilon or a delta that promises nothing, and without the extra
        `curator`; `CertificateError` where the account does not balance.
        """
        if len(ratings) == 0:
            raise RequestError(f"{ratings.name} holds no rows; a model needs at least one.")
        account = Account(epsilon, delta, SecretReleases() if releases is None else releases)
        account.allot(FIRST if links is None else FIRST_LINKED)
        crowd = Crowd.of(ratings)
        known = counted(crowd, account)
        linked = 1.0 if links is None else linked_share(links, known, account)
        plan = outline(known, account.alone, crowd.half, self.steps, self.factors, linked)
        account.allot(plan.shares)
        items = np.zeros((ratings.n_items, 1 + plan.factors))
        items[:, 0] = item_means(crowd, known, account)
        if plan.factors:
            head = Head.of(crowd, known, items[:, 0], plan.head, self.rarity)
            items[plan.head, 1:] = head.tastes(plan, account, rng, advance)
        advance(1.0)
        return released(self.name, ratings, known.mu, items, account)


@dataclass(frozen=True, eq=False)
class Head:
    """The items that get factors, and everybody's ratings of them.

    `means`: b, `wanted`: what weights are in proportion to, shape (items,). `raters`: noisy.
    """

    crowd: Crowd
    means: Doubles
    wanted: Doubles
    mu: float
    raters: float

    @classmethod
    def of(
        cls, crowd: Crowd, known: Counted, means: Doubles, head: NDArray[np.bool_], rarity: float
    ) -> "Head":
        column = np.cumsum(head) - 1
        few = crowd.where(head, column, int(head.sum()))
        return cls(few, means[head], known.weights[head] ** -rarity, known.mu, known.raters)

    def tastes(
        self, plan: Outline, account: Account, rng: int, advance: Callable[[float], None]
    ) -> Doubles:
        """The items' factors after all steps, shape (items, K)."""
        factors = plan.factors
        start = np.random.default_rng(rng).standard_normal((len(self.means), factors))
        tastes = TASTE_SPREAD * self.crowd.half * start / np.sqrt(factors)
        for step in range(plan.steps):
            tastes = self.step(tastes, f"{step}", account)
            advance((step + 1) / plan.steps)
        return tastes

    def step(self, tastes: Doubles, number: str, account: Account) -> Doubles:
        """Spend `gram` and `pull`: the items' factors, given what people's rows they lead to."""
        crowd = self.crowd
        own, rows = self.people(tastes)
        labels = crowd.values - self.mu - self.means[crowd.item] - own[crowd.person]
        most = LABELS * crowd.half
        weights = contributions.weights(crowd, self.wanted, labels, most)
        gram, gram_noise = self._gram(weights, rows, f"gram {number}", account)
        pull, pull_noise = self._pull(weights * labels / most, rows, f"pull {number}", account)
        trace = unit_trace(gram)
        vectors, mean = pooled(gram, trace, gram_noise)
        whiten = root(contributions.unpacked(mean[None])[0])
        A = semidefinite(whiten @ contributions.unpacked(vectors) @ whiten)
        rated = self.raters / trace.sum() * (SPREAD * 2 * crowd.half) ** 2
        noise = (most * pull_noise) ** 2 * whiten @ whiten + rated * A
        return item_rows(A, most * pull @ whiten, noise, TASTE_SPREAD * crowd.half)

    def people(self, tastes: Doubles) -> tuple[Doubles, Doubles]:
        """Everybody's own level (people,), and her row of length 1 (people, K): from her own
        ratings, given what is released already."""
        items = np.column_stack([self.means, tastes]).astype(np.float32)
        precision = precisions(self.crowd.half, tastes.shape[1])
        nobody = np.zeros((self.crowd.people, items.shape[1]))
        home = Home(self.mu, items, precision, nobody, np.zeros(1), 0.0)
        solved = fold_in(self.crowd.users, self.crowd.values, home)
        rows = solved[:, 1:]
        return solved[:, 0], rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None]

    def _gram(
        self, weights: Doubles, rows: Doubles, name: str, account: Account
    ) -> tuple[Doubles, float]:
        """Noisy packed A, shape (items, D), and the standard deviation of an entry's noise."""
        whole = contributions.whole_rows
        grid = contributions.grid(account.multiplier(name))
        packed = whole(contributions.packed(rows), grid.rows)
        steps = contributions.whole(weights, self.crowd.person, self.crowd.people, grid.weights)
        totals = weighted_sums(self.crowd.items, steps, packed)
        sensitivity = contributions.gram_sensitivity(grid, packed.shape[1])
        noisy = account.gaussian(name, totals, sensitivity=sensitivity)
        size = grid.weights * grid.rows
        return noisy / size, account.multiplier(name) * sensitivity / size

    def _pull(
        self, labels: Doubles, rows: Doubles, name: str, account: Account
    ) -> tuple[Doubles, float]:
        """Noisy h, shape (items, K), of weighted labels of norm 1 a person; and its noise."""
        grid = contributions.grid(account.multiplier(name))
        steps = contributions.whole(labels, self.crowd.person, self.crowd.people, grid.weights)
        totals = weighted_sums(self.crowd.items, steps, contributions.whole_rows(rows, grid.rows))
        sensitivity = contributions.any_sensitivity(grid)
        noisy = account.gaussian(name, totals, sensitivity=sensitivity)
        return noisy / (grid.weights * grid.rows), 2 * account.multiplier(name)


def unit_trace(gram: Doubles) -> Doubles:
    """The sum of an item's weights s, read off its noisy A: rows have length 1; at least 1."""
    matrices = contributions.unpacked(gram)
    return np.maximum(np.trace(matrices, axis1=1, axis2=2), 1.0)


def root(matrix: Doubles) -> Doubles:
    """The inverse root of a noisy mean of u u', whose trace is 1; directions never seen count as
    a thousandth of their share."""
    values, axes = np.linalg.eigh(matrix)
    return (axes / np.sqrt(np.maximum(values, 1e-3 / len(matrix)))) @ axes.T
