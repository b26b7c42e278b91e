"""Private covariance (McSherry and Mironov 2009): item factors from one noisy covariance.

Each user's ratings, centred by the noisy item means and by the user's own level, form a vector x of
norm at most 1. The products x_a x_b of different items, summed over users, are released once:

    C_ab = sum over users of x_a x_b + noise, a < b.

Products of one user have the squared norm (|x|^4 - sum x_a^4) / 2, and two users' differ by

    (|x|^4 + |y|^4) / 2 - (x . y)^2 - sum (x_a^2 - y_a^2)^2 / 2  <=  1,

so the sensitivity is 1. The diagonal, which is mostly noise of ratings, is omitted. A low-rank
approximation of C yields factors (`low_rank`). Each device solves its user's row from the user's
ratings, instead of the paper's neighbours. Rarely rated items have only a mean.

Item rows from a noisy covariance without its diagonal.

    C_ab = d_a d_b v_a . v_b + noise,    a != b

Rows have the normal prior N(0, T), and the noise of an entry the variance s^2. The posterior is
approximated by independent rows (mean field, as Lim and Teh 2007), each optimal given the others:

    S_a = (T^-1 + (d_a / s)^2 sum over b != a of d_b^2 (v_b v_b' + S_b))^-1
    v_a = S_a (d_a / s^2) sum over b != a of C_ab d_b v_b

and T is the mean of v v' + S. Unlike a cutoff of eigenvalues at the noise edge, this shrinks each
row by its weight: rows of small weight are mostly noise. Post-processing: no rating is read.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.ratings import Ratings
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.noisy_releases import MOST_DEVIATION, NoisyReleases, SecretReleases
from tacit.training.person.fitted_model import ItemSide
from tacit.training.person.item_means import (
    LABELS,
    Counted,
    CrossDomain,
    emphasis,
    item_means,
    own_levels,
)
from tacit.training.person.release_schedule import (
    LEFT,
    MEANS,
    TASTE_SPREAD,
    first_releases,
    means_shares,
)

Doubles = NDArray[np.float64]
ROUNDS = 60
STEP = 0.5  # damping of each round, because all rows are updated at once
LEAST = 1e-9  # least variance, against division by zero


def low_rank_rows(
    matrix: Doubles, scale: Doubles, deviation: float, factors: int, spread: float
) -> Doubles:
    """Return v, shape (items, K), rotated so that the prior is diagonal, largest column first.

    `matrix`: C with zero diagonal. `scale`: d, shape (items,). `deviation`: s. `factors`: K.
    `spread`: initial standard deviation of a row's norm.
    """
    prior = np.eye(factors) * spread**2 / factors
    rows = _start(matrix, scale, factors, spread)
    doubt: Doubles = np.zeros((len(rows), factors, factors))
    squares = (scale**2)[:, None, None]
    for _ in range(ROUNDS):
        seconds = squares * (rows[:, :, None] * rows[:, None, :] + doubt)
        others = squares * (seconds.sum(0) - seconds) / deviation**2
        held = np.linalg.inv(prior + LEAST * np.eye(factors))
        doubt = np.asarray(np.linalg.inv(others + held), np.float64)
        pull = (scale / deviation**2)[:, None] * (matrix @ (scale[:, None] * rows))
        best = np.einsum("akl,al->ak", doubt, pull)
        rows = (1 - STEP) * rows + STEP * best
        prior = np.mean(rows[:, :, None] * rows[:, None, :] + doubt, 0)
    return rows @ np.linalg.eigh(prior)[1][:, ::-1]


def _start(matrix: Doubles, scale: Doubles, factors: int, spread: float) -> Doubles:
    """Return the leading eigenvectors, as rows of at most the expected norm."""
    last = len(matrix) - 1
    values, axes = linalg.eigh(matrix, subset_by_index=(last + 1 - factors, last))
    leading = np.asarray(axes, np.float64) * np.sqrt(np.maximum(values, 0))
    rows = leading / scale[:, None]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1, spread / np.maximum(norms, LEAST))


TASTES = 6  # default least rank: unsupported factors are estimated near zero
STEPS = 4  # steps of `dpals`, whose schedule decides whether to fit factors


@dataclass(frozen=True, kw_only=True)
class DPCovariance:
    """Private covariance (McSherry and Mironov 2009): item factors from one noisy covariance.

    `factors`: K, 0 to release item means alone, None for `TASTES` or as many as `dpals` would use
    if more, provided the budget allows any. `most_items`: most items with factors, by noisy count;
    memory is quadratic in it.

    Raises `RequestError` for factors below 0, or fewer than two items.
    """

    factors: int | None = None
    most_items: int = 1500

    name = "dp-covariance"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        if (self.factors or 0) < 0 or self.most_items < 2:
            raise RequestError(
                "most_items must be at least 2 and factors 0 or more, got most_items "
                f"{self.most_items} and factors {self.factors}."
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

        The only randomness is the noise, so `rng` is ignored. `releases` is replaced in tests only.
        Raises as `tacit.training.person.dpals.DPALS.fit`.
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
        """Implement `tacit.training.person.dpals.DPALS.learn`."""
        del rng
        canonical, known, plan = first_releases(
            ratings, account, steps=STEPS, factors=self.factors, cross_domain=cross_domain
        )
        head = plan.head & most_rated(known.weights, self.most_items)
        factors = plan.factors > 0 and int(head.sum()) > 1
        account.allot(means_shares(MEANS if factors else LEFT))
        if factors:
            account.allot({"covariance": LEFT - MEANS})
        items = item_means(canonical, known, account, cross_domain)[:, None]
        advance(0.5)
        if factors:
            requested = emphasis(canonical, cross_domain)
            tastes = self.factors or max(TASTES, plan.factors)
            factors_of_head = self._tastes(
                canonical, known, items[:, 0], requested, head, tastes, account
            )
            items = np.pad(items, ((0, 0), (0, factors_of_head.shape[1])))
            items[head, 1:] = factors_of_head
        advance(1.0)
        return ItemSide(self.name, ratings, known.mu, items)

    def _tastes(
        self,
        canonical: CanonicalRatings,
        known: Counted,
        means: Doubles,
        requested: Doubles,
        head: NDArray[np.bool_],
        tastes: int,
        account: Account,
    ) -> Doubles:
        """Release `covariance`. Returns factors of the items in `head`, shape (items, K)."""
        size, most = int(head.sum()), LABELS * canonical.half
        levels = own_levels(canonical, known.mu, means)
        few = canonical.where(head, np.cumsum(head) - 1, size)
        labels = few.values - known.mu - means[head][few.item] - levels[few.person]
        weights = contributions.weights(few, requested[head], labels, most)
        grid = covariance_grid(account.multiplier("covariance"))
        steps = contributions.rounded(weights * labels / most, few.person, few.people, grid)
        above = np.triu_indices(size, 1)
        totals = products(few, steps, size)[above]
        noisy = account.gaussian("covariance", totals, sensitivity=grid**2)
        matrix = np.zeros((size, size))
        matrix[above] = noisy / grid**2
        matrix += matrix.T
        # Sampling noise of users: their products, of norm 1 each, spread over all entries.
        drawn = math.hypot(account.multiplier("covariance"), math.sqrt(known.raters) / size)
        # Expected weight of a rating of each item, a user's |s| being 1.
        scale = known.weights[head] / math.sqrt(known.raters) / most
        return low_rank_rows(matrix, scale, drawn, min(tastes, size), TASTE_SPREAD * canonical.half)


def most_rated(weights: Doubles, count: int) -> NDArray[np.bool_]:
    """Return which items have the `count` largest noisy weights; ties by item. Shape (items,)."""
    chosen = np.zeros(len(weights), np.bool_)
    chosen[np.argsort(-weights, kind="stable")[:count]] = True
    return chosen


def covariance_grid(multiplier: float) -> int:
    """Return the bound on the norm of x, in steps: the finest that noise on its square allows."""
    return max(2, min(1 << 10, math.isqrt(int(MOST_DEVIATION / (1.01 * multiplier)))))


def products(
    canonical: CanonicalRatings, steps: NDArray[np.int32], items: int
) -> NDArray[np.int64]:
    """Return sum over users of x_a x_b, in 64-bit integers; shape (items, items)."""
    from scipy import sparse

    shape = (canonical.people, items)
    x = sparse.csr_array(
        (steps.astype(np.int64), canonical.item, canonical.users.start), shape=shape
    )
    return np.asarray((x.T @ x).toarray(), np.int64)
