"""Algorithms 1 to 3 of Xian, Li, Li and Li as printed, with the printed epsilon.

    r^_ui = mu + b_u + b_i + q_i . (p_u + z_u)        z_u = |N(u)|^-1/2 sum over j in N(u) of y_j

mu, b_i and b_u are Koren's damped means of the *raw* ratings (equation (4)): given all other
ratings they determine a rating, so the total epsilon is infinite. They are released as `public`,
which the replay audit detects. Then, in k rounds,

    gradient   e' = clip(r - r^ + Lap(k Dr / epsilon)), one epoch of descent per round
    objective  p solved with b . p + Delta / 2 ||p||^2 added, then q, at epsilon / 2 k each
    output     p solved exactly, with noise of density exp(-epsilon / (2 k S) ||.||), then q

The paper's estimate of y is lost. The text refers to formula (4), as for b_u and b_i: `y="mean"` is
a raw mean for each item, without factors. The default is Koren's: by the same noisy errors in the
first algorithm, and in the other two by one epoch of raw errors per round, so y is raw again.
Displayed formulas are reconstructed; see `docs/explanation/papers/xian.md`.

Estimates of Xian et al. from raw ratings (formula (4)), without noise and so without epsilon.

    b_i = sum over u of (r_ui - mu) / (lambda_2 + n_i)
    b_u = sum over i of (r_ui - mu - b_i) / (lambda_3 + n_u)

Koren's damped means. The formula has a third line, for y_j, whose text is lost except that it is an
estimate of the same kind: `mean_factors` is the one that needs no factors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import integer, positive
from tacit.kernels.layout import Side
from tacit.kernels.sgd import Parameters, Rates, descend, implicit
from tacit.models.fitted import Fitted
from tacit.models.least_squares.als_svd import ITEM_DAMPING, PERSON_DAMPING
from tacit.models.least_squares.svd import STARS
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import shortest
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.mechanism.value_account import ValueAccount
from tacit.training.papers import noisy_solvers
from tacit.training.papers.noisy_solvers import (
    NoisySolve,
    fitted_svd,
    noisy_descent,
    output_sensitivity,
    random_start,
    share,
)
from tacit.training.value.integer_ratings import IntegerRatings, integer_ratings

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
    return RawLevels(mean, items, releases.public("raw levels of users", raw))


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


NAMES = {"gradient": "dpss", "objective": "dpsaobj", "output": "dpsaout"}
NORM = 1.0
"""p_max and q_max of Algorithm 3, in square roots of a star: ours."""

RAW = "the mean and the levels of all items and users are computed from raw ratings without noise"
RAW_Y = "; y is too"
OBJECTIVE = (
    "; objective perturbation costs up to Dr q_max, four times |q_i|, times the claimed epsilon"
)


@dataclass(frozen=True, kw_only=True)
class FaithfulSVD:
    """Settings of Algorithms 1 to 3.

    `noise`: where it is added. `implicit`: SVD++ instead of SVD. `factors`: K. `rounds`: k. `rate`:
    of descent. `ridge`: per rating. `norm`: p_max and q_max with output noise. `count`: n in
    Algorithm 2, the number of "all" ratings, as printed, or of a row's "own". `y`: SVD++ factors by
    "descent", or a raw "mean" by formula (4).
    """

    noise: Literal["gradient", "objective", "output"]
    implicit: bool = False
    factors: int = 20
    rounds: int = 10
    rate: float = noisy_solvers.RATE
    ridge: float = noisy_solvers.RIDGE
    norm: float = NORM
    count: Literal["own", "all"] = "all"
    y: Literal["descent", "mean"] = "descent"

    where = ("curator", "device")
    unit = "value"

    def __post_init__(self) -> None:
        integer("rounds", self.rounds, 1)
        positive("ridge", self.ridge)

    @property
    def name(self) -> str:
        """Name of the trainer on the command line."""
        return NAMES[self.noise] + "++" * self.implicit

    @property
    def _learns_y(self) -> bool:
        return self.implicit and self.y == "descent"

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        rng: int = 0,
        delta: str = "0",
        advance: Callable[[float], None] = lambda done: None,
        releases: NoisyReleases | None = None,
    ) -> Fitted:
        """Fit to true ratings. `epsilon`: the paper's claim, in nats per rating value.

        `delta` is ignored: the claims have none. Raises `RequestError` without ratings, and for an
        epsilon that is not a positive decimal.
        """
        ratings.require_stars()
        account = ValueAccount(epsilon, SecretReleases() if releases is None else releases)
        data = integer_ratings(ratings)
        at = random_start(data.layout, self.factors, implicit=self.implicit, rng=rng)
        raw = raw_levels(data, account)
        at = at._replace(b_u=raw.people, b_i=raw.items)
        if self.implicit and self.y == "mean":
            at = at._replace(y=mean_factors(data, raw, self.factors, account))
        run = self._descended if self.noise == "gradient" else self._solved
        at = run(data, raw, at, account, advance)
        rows = np.column_stack([at.b_u, at.p + implicit(data.layout.users, at.y)])
        items = np.column_stack([at.b_i, at.q])
        claim = self.guarantee(account.close())
        return fitted_svd(self.name, ratings, raw.mean, rows, items, claim)

    def guarantee(self, epsilon: str) -> Guarantee:
        """Return the paper's claim, and why it fails.

        `epsilon`: nats per rating value, as claimed.
        """
        share(epsilon, 2 * self.rounds)
        raw_y = self.implicit and (self.noise != "gradient" or self.y == "mean")
        why = (RAW, RAW_Y * raw_y, OBJECTIVE * (self.noise == "objective"))
        return Guarantee(
            epsilon=shortest(Decimal(epsilon)),
            unit="value",
            trust="curator",
            released="the mean, levels and factors",
            public=("which items each user rated", "the scale"),
            fails="".join(why),
        )

    def _descended(
        self,
        data: IntegerRatings,
        raw: RawLevels,
        at: Parameters,
        account: ValueAccount,
        advance: Callable[[float], None],
    ) -> Parameters:
        """Run Algorithm 1: every epoch costs epsilon / k."""
        star, each = data.width / STARS, share(account.epsilon, self.rounds)

        def look(epoch: int) -> Doubles:
            name = f"errors, epoch {epoch}"
            # The error changes with r alone, by at most Dr: later clipping does not matter.
            noisy = account.laplace(name, data.values, sensitivity=data.width, epsilon=each)
            return noisy / star - raw.mean

        noisy_descent(
            data.layout.users,
            at,
            [partial(look, epoch) for epoch in range(self.rounds)],
            rate=self.rate,
            ridge=self.ridge,
            implicit=self._learns_y,
            advance=advance,
        )
        return at

    def _solved(
        self,
        data: IntegerRatings,
        raw: RawLevels,
        at: Parameters,
        account: ValueAccount,
        advance: Callable[[float], None],
    ) -> Parameters:
        """Run Algorithms 2 and 3: a rating enters one solution of each side per round."""
        users, items = data.layout.users, data.layout.items
        solve = NoisySolve(account, share(account.epsilon, 2 * self.rounds), self.ridge)
        none, at = np.zeros_like(at.q), at._replace(p=np.zeros_like(at.p))
        centred = data.values / (data.width / STARS) - raw.mean
        left = centred - at.b_u[data.user_of] - at.b_i[data.item_of]
        for k in range(self.rounds):
            at = self._raw_implicit(k, data, centred, at, account)
            z = implicit(users, at.y)
            p = self._rows(solve, f"people, round {k}", users, at.q, left, z)
            q = self._rows(solve, f"items, round {k}", items, p + z, left, none)
            at = at._replace(p=p, q=q)
            advance((k + 1) / self.rounds)
        return at

    def _rows(
        self, solve: NoisySolve, name: str, side: Side, design: Doubles, left: Doubles, z: Doubles
    ) -> Doubles:
        if self.noise == "objective":
            n = len(left) if self.count == "all" else 0
            return solve.objective(name, side, design, left, z, n)
        sensitivity = partial(output_sensitivity, STARS, self.norm)
        return solve.output(name, side, design, left, z, sensitivity=sensitivity, norm=self.norm)

    def _raw_implicit(
        self,
        k: int,
        data: IntegerRatings,
        centred: Doubles,
        at: Parameters,
        releases: NoisyReleases,
    ) -> Parameters:
        if not self._learns_y:
            return at
        y = at.y.copy()
        moved = at._replace(y=y)
        descend(data.layout.users, centred, moved, Rates(0.0, 0.0, 0.0, self.rate), self.ridge)
        return at._replace(y=releases.public(f"raw implicit factors, round {k}", y))
