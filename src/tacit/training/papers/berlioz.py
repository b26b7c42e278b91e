"""PSGD and PALS (Berlioz et al. 2015): noisy SGD and ALS after private averages.

The averages of ratings, items and users are released first (`biases`) and subtracted, and the
residuals are clipped to one star in either direction. Without this preprocessing the ratings,
relative to the middle of the scale, are factorized. Then, in k rounds,

    psgd   descent on a fresh noisy copy of the residuals, at epsilon / k
    pals   both sides solved in turn, each solution with noise at epsilon / 2 k, norms clipped

The unit is `value`. The paper does not state the noise of a PALS solution: `ridge_sensitivity` is
proved here. Factors, rounds and the fraction of the averages are ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import integer, positive
from tacit.kernels.sgd import Parameters
from tacit.models.fitted import Fitted
from tacit.models.least_squares.svd import STARS
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import shortest
from tacit.training.mechanism.accounting import nats
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.mechanism.value_account import ValueAccount
from tacit.training.papers.noisy_solvers import (
    RATE,
    RIDGE,
    NoisySolve,
    fitted_svd,
    noisy_descent,
    random_start,
    share,
)
from tacit.training.value.biases import BiasBudget, Biases, released_biases
from tacit.training.value.factors import ridge_sensitivities
from tacit.training.value.integer_ratings import IntegerRatings, integer_ratings
from tacit.training.value.private_svd import ASSUMPTIONS, PUBLIC

Ints = NDArray[np.int64]

AVERAGES = Decimal("0.3")
"""Fraction of epsilon for the averages, a third of it for each."""

NORM = 1.0
"""p_max and q_max of PALS, in square roots of a star."""


class Residuals(NamedTuple):
    """Ratings minus averages: `values` in steps, within [-bound, bound], shape (n,)."""

    data: IntegerRatings
    values: Ints
    bound: int

    @property
    def star(self) -> float:
        """Steps per star."""
        return self.data.width / STARS


@dataclass(frozen=True, kw_only=True)
class Berlioz:
    """PSGD and PALS (Berlioz et al. 2015): noisy SGD and ALS after private averages.

    `noise`: on errors (`psgd`) or on solutions (`pals`). `preprocess`: release private averages
    first. `factors`: K. `rounds`: k. `ridge`: per rating.
    """

    noise: Literal["gradient", "output"]
    preprocess: bool = True
    factors: int = 20
    rounds: int = 10
    ridge: float = RIDGE

    where = ("curator", "device")
    unit = "value"

    def __post_init__(self) -> None:
        integer("rounds", self.rounds, 1)
        positive("ridge", self.ridge)

    @property
    def name(self) -> str:
        """Name of the trainer on the command line."""
        return "psgd" if self.noise == "gradient" else "pals"

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
        """Train at `epsilon` nats per rating value, a decimal string. `delta` is ignored.

        Raises `RequestError` without ratings, and for an epsilon that is not a positive decimal.
        """
        ratings.require_stars()
        account = ValueAccount(epsilon, SecretReleases() if releases is None else releases)
        data = integer_ratings(ratings)
        biases = self._averages(data, account)
        bound = data.width // 4 if self.preprocess else data.width // 2
        residuals = Residuals(data, biases.residuals(data, bound), bound)
        at = random_start(data.layout, self.factors, implicit=False, rng=rng)
        run = self._descended if self.noise == "gradient" else self._solved
        at = run(residuals, at, account, advance)
        star = data.width / STARS
        people = np.column_stack([biases.people / star, at.p])
        items = np.column_stack([biases.items / star, at.q])
        claim = self.guarantee(account.close())
        return fitted_svd(self.name, ratings, biases.mean / star, people, items, claim)

    def guarantee(self, epsilon: str) -> Guarantee:
        """Return the guarantee of averages and rounds together.

        `epsilon`: nats per rating value.
        """
        return Guarantee(
            epsilon=shortest(Decimal(epsilon)),
            unit="value",
            trust="curator",
            released="averages and factors of all users and items"
            if self.preprocess
            else "factors",
            public=PUBLIC,
            assumptions=ASSUMPTIONS,
        )

    def _averages(self, data: IntegerRatings, account: ValueAccount) -> Biases:
        if not self.preprocess:
            people, items = (side.counts for side in (data.layout.users, data.layout.items))
            return Biases(0, np.zeros_like(items), np.zeros_like(people))
        third = share(shortest(nats(account.epsilon) * AVERAGES), 3)
        return released_biases(data, account, BiasBudget(third, third, third))

    def _each(self, account: ValueAccount, looks: int) -> str:
        """Return the price of each of `looks` queries of the residuals."""
        left = nats(account.epsilon) * (1 - AVERAGES * self.preprocess)
        return share(shortest(left), looks)

    def _descended(
        self,
        residuals: Residuals,
        at: Parameters,
        account: ValueAccount,
        advance: Callable[[float], None],
    ) -> Parameters:
        each, most = self._each(account, self.rounds), 2 * residuals.bound

        def look(epoch: int) -> NDArray[np.float64]:
            name = f"errors, epoch {epoch}"
            noisy = account.laplace(name, residuals.values, sensitivity=most, epsilon=each)
            return noisy / residuals.star

        looks = [partial(look, epoch) for epoch in range(self.rounds)]
        users = residuals.data.layout.users
        noisy_descent(
            users, at, looks, rate=RATE, ridge=self.ridge, implicit=False, advance=advance
        )
        return at

    def _solved(
        self,
        residuals: Residuals,
        at: Parameters,
        account: ValueAccount,
        advance: Callable[[float], None],
    ) -> Parameters:
        solve = NoisySolve(account, self._each(account, 2 * self.rounds), self.ridge)
        sides, stars = residuals.data.layout, residuals.values / residuals.star
        change = partial(ridge_sensitivities, 2 * residuals.bound / residuals.star, NORM)
        p, q = at.p * 0, at.q / np.maximum(1, np.sqrt((at.q**2).sum(1, keepdims=True)))
        for k in range(self.rounds):
            p = solve.output(
                f"people, round {k}", sides.users, q, stars, p * 0,
                sensitivity=change, norm=NORM,
            )  # fmt: skip
            q = solve.output(
                f"items, round {k}", sides.items, p, stars, q * 0,
                sensitivity=change, norm=NORM,
            )  # fmt: skip
            advance((k + 1) / self.rounds)
        return at._replace(p=p, q=q)
