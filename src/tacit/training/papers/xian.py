"""Xian, Li, Li and Li's Algorithms 1 to 3 as printed, with the epsilon that they print.

    r^_ui = mu + b_u + b_i + q_i . (p_u + z_u)        z_u = |N(u)|^-1/2 sum over j in N(u) of y_j

mu, b_i and b_u are Koren's damped means of the *raw* ratings (equation (4)): given all others they
determine a rating, so no epsilon of the whole is finite. They are released as `public`, which is
what the replay audit finds. Then, in k rounds,

    gradient   e' = cut(r - r^ + Lap(k Dr / epsilon)), one epoch of descent a round
    objective  p solved with b . p + Delta / 2 ||p||^2 added, then q, at epsilon / 2 k each
    output     p solved exactly, with noise of density exp(-epsilon / (2 k S) ||.||), then q

How y is had is lost. The text takes it from formula (4), beside b_u and b_i: `y="mean"` is a raw
mean for each item, and no factors. As Koren has it, and by default: by the same noisy errors in the
first, and in the other two by one epoch of raw errors a round, which is raw y once more. Displayed
formulas are rebuilt; see `docs/explanation/papers/xian.md`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.layout import Side
from tacit.kernels.sgd import Parameters, Rates, descend, implicit
from tacit.models.fitted import Fitted
from tacit.models.svd import STARS
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import shortest
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.mechanism.value_account import ValueAccount
from tacit.training.papers import noisy_solvers
from tacit.training.papers.noisy_solvers import NoisySolve, noisy_descent, random_start, share
from tacit.training.papers.raw_estimates import RawLevels, mean_factors, raw_levels
from tacit.training.papers.xian_noise import output_sensitivity
from tacit.training.value.fitted_model import fitted_svd
from tacit.training.value.integer_ratings import IntegerRatings, integer_ratings

Doubles = NDArray[np.float64]

NAMES = {"gradient": "dpss", "objective": "dpsaobj", "output": "dpsaout"}
NORM = 1.0
"""p_max and q_max of Algorithm 3, in roots of a star: ours."""

RAW = "the mean, and the level of every item and person, are those of the raw ratings"
RAW_Y = "; so is y"
OBJECTIVE = "; and noise in the objective loses up to Dr q_max, four times |q_i|, times the claim"


@dataclass(frozen=True, kw_only=True)
class FaithfulSVD:
    """`noise`: where it is added. `implicit`: SVD++ instead of SVD. `factors`: K. `rounds`: k.
    `rate`: of descent. `ridge`: on each rating. `norm`: p_max and q_max, where there is noise on
    the output. `count`: whose ratings are Algorithm 2's n, "all", as printed, or a row's "own".
    `y`: whether SVD++ learns it by "descent" or takes it from formula (4), a raw "mean".
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

    @property
    def name(self) -> str:
        """The training's name on the command line."""
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
        """Learn from true ratings; `epsilon` is what the paper claims, in nats per rating value.

        `delta` is not used: the claims have none. Raises `RequestError` for no ratings, or an
        epsilon that is no positive decimal.
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
        """The paper's claim, and why it fails. `epsilon`: nats per rating value, as claimed."""
        share(epsilon, 2 * self.rounds)
        raw_y = self.implicit and (self.noise != "gradient" or self.y == "mean")
        why = (RAW, RAW_Y * raw_y, OBJECTIVE * (self.noise == "objective"))
        return Guarantee(
            epsilon=shortest(Decimal(epsilon)),
            unit="value",
            trust="curator",
            released="the mean, levels and factors",
            public=("who rated what", "the scale"),
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
        """Algorithm 1: every epoch has an epsilon / k of its own."""
        star, each = data.width / STARS, share(account.epsilon, self.rounds)

        def look(epoch: int) -> Doubles:
            name = f"errors, epoch {epoch}"
            # The error moves with r alone, by Dr at most: what is cut later does not count.
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
        """Algorithms 2 and 3: a rating enters one solve of each side a round."""
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
