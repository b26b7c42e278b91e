"""SVD and SVD++ trained with noise (Xian et al. 2017), with a proved guarantee in the mode strict.

    r^_ui = mu~ + b~_i + b~_u + q_i . x_u,     x_u = p_u, or p_u + z_u with the implicit part

All terms on the right are released with noise: mean and biases (`biases`), then factors of the
clipped residuals, by objective, output (`factors`) or gradient perturbation (`gradient`). The
budget is divided by public counts (`value_plan`). Presence is public, and the unit is `value`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.models.fitted import Fitted
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import LEVEL_NOISE, LEVEL_SPREAD, shortest
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.mechanism.value_account import ValueAccount
from tacit.training.value.biases import Biases, in_stars, released_biases
from tacit.training.value.budget_split import RANKS, Noise, ValuePlan, value_plan
from tacit.training.value.factors import (
    FactorBudget,
    GradientBudget,
    NoisyFactors,
    gradient_factors,
    released_factors,
)
from tacit.training.value.integer_ratings import STEPS, IntegerRatings, integer_ratings

Doubles = NDArray[np.float64]

PUBLIC = ("which items each user rated", "the catalogue and the scale")
ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "the curator is trusted with the true ratings and deletes them",
    "training again on the same ratings costs epsilon again",
)
NAMES: dict[Noise, str] = {"objective": "dpsaobj", "output": "dpsaout", "gradient": "dpss"}


@dataclass(frozen=True, kw_only=True)
class PrivateSVD:
    """SVD and SVD++ trained with noise (Xian et al. 2017), with a proved guarantee in mode strict.

    `noise`: where it is added, None for mean and biases alone (`dp-bias`). `implicit`: whether
    presence predicts user factors (SVD++). `ridge`: of the solves of output perturbation. `rank`:
    K, 2, 4 or 8; 0 for none, None for as much as the budget and public counts allow.

    Raises `RequestError` for another rank.
    """

    noise: Noise | None
    implicit: bool = False
    ridge: float = 2.0
    rank: int | None = None

    where = ("curator", "device")
    unit = "value"
    mode: Literal["strict"] = "strict"

    def __post_init__(self) -> None:
        if self.rank not in (None, 0, *RANKS):
            ranks = ", ".join(map(str, (0, *RANKS)))
            raise RequestError(f"rank must be one of {ranks}, got {self.rank}.")

    @property
    def name(self) -> str:
        """Name of the method, as in the paper's Table 2."""
        return NAMES[self.noise] + "++" * self.implicit if self.noise else "dp-bias"

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "0",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        releases: NoisyReleases | None = None,
    ) -> Fitted:
        """Train at `epsilon` nats per rating value, a decimal string.

        `rng` seeds the initial values, which are public. `delta` is ignored. `releases` is replaced
        in tests only. Raises `RequestError` without ratings, and for an invalid epsilon.
        """
        ratings.require_stars()
        account = ValueAccount(epsilon, SecretReleases() if releases is None else releases)
        known = integer_ratings(ratings)
        plan = self.plan(known, epsilon)
        biases = released_biases(known, account, plan.biases)
        factors = self._factors(known, biases, plan, account, rng)
        advance(1.0)
        return _fitted(self.name, ratings, biases, factors, self.guarantee(account.close()))

    def plan(self, known: IntegerRatings, epsilon: str) -> ValuePlan:
        """Return the division of the budget, a function of epsilon and of public counts.

        `epsilon`: nats per rating value.
        """
        counts = known.layout.users.counts, known.layout.items.counts
        return value_plan(epsilon, *counts, noise=self.noise, ridge=self.ridge, rank=self.rank)

    def guarantee(self, epsilon: str) -> Guarantee:
        """Return the guarantee. It is not exact: noise vectors are drawn in floats.

        `epsilon`: nats per rating value.
        """
        return Guarantee(
            epsilon=shortest(Decimal(epsilon)),
            unit="value",
            trust="curator",
            released="mean, biases and factors of all users and items",
            public=PUBLIC,
            assumptions=ASSUMPTIONS,
        )

    def _factors(
        self,
        known: IntegerRatings,
        biases: Biases,
        plan: ValuePlan,
        releases: NoisyReleases,
        rng: int,
    ) -> NoisyFactors:
        bound = known.width // 4
        budget = plan.factors
        if isinstance(budget, FactorBudget) and self.noise in ("objective", "output"):
            return released_factors(
                known.layout,
                biases.residuals(known, bound),
                bound,
                releases,
                budget,
                where=self.noise,
                implicit=self.implicit,
                ridge=self.ridge,
                rng=rng,
            )
        if isinstance(budget, GradientBudget):
            left = biases.residuals(known, bound)
            return gradient_factors(
                known.layout, left, bound, releases, budget, shared=self.implicit, rng=rng
            )
        people, items = len(known.layout.users.counts), len(known.layout.items.counts)
        return NoisyFactors(np.zeros((people, 0)), np.zeros((items, 0)))


def _fitted(
    name: str, ratings: Ratings, biases: Biases, factors: NoisyFactors, guarantee: Guarantee
) -> Fitted:
    """Return the fitted model. Factors are in units of sqrt B, B a quarter of the range."""
    levels = np.asarray(ratings.scale.values)
    width = float(levels[-1] - levels[0])
    root = (width / 4) ** 0.5
    people = np.column_stack([in_stars(biases.people), root * factors.people])
    items = np.column_stack([in_stars(biases.items), root * factors.items])
    return Fitted.point(
        name,
        ratings,
        mu=(levels[0] + levels[-1]) / 2 + biases.mean / STEPS,
        people=people,
        items=items,
        precision=own_precision(width, root * factors.people),
        guarantee=ratings.qualified(guarantee),
    )


def own_precision(width: float, rows: Doubles) -> Doubles:
    """Return the prior precision of a device's row: rating noise over the mean square of rows.

    `rows`: released, shape (rows, K). Returns shape (1 + K,).
    """
    rating = (LEVEL_NOISE * width) ** 2
    factors = rating / np.maximum((rows**2).mean(0), 1e-6 * rating) if len(rows) else np.zeros(0)
    return np.concatenate([[(LEVEL_NOISE / LEVEL_SPREAD) ** 2], factors])
