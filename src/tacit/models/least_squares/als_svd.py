"""SVD and SVD++ (Koren 2008) by alternating least squares, ignoring the channel.

With c_ui = r_ui - mu - b_u - b_i, z_u of `least_squares.svd` and one ridge l, a sweep is

    y: one epoch of gradient descent over all y_j, everything else fixed
    p_u = (sum_i q_i q_i' + l I)^-1 sum_i q_i (c_ui - q_i . z_u)
    q_i = (sum_u x_u x_u' + l I)^-1 sum_u x_u c_ui           with x_u = p_u + z_u

`als-svdpp` is ALSBase++ of Xian et al., except for the descent on y: their printed estimate of the
implicit factors cannot be computed. `als-svd` has no y. The biases are theirs: Koren's damped
means, computed once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import integer
from tacit.kernels.als import SideProblem, half_step
from tacit.kernels.predict import bilinear
from tacit.kernels.sgd import Doubles, Parameters, Rates, descend, implicit
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.least_squares.half_steps import Factors
from tacit.models.least_squares.mf import as_fitted
from tacit.models.least_squares.ridge import at_best_ridge
from tacit.models.least_squares.svd import RATE, RIDGE, START, in_stars, star

Floats = NDArray[np.float32]
ITEM_DAMPING, PERSON_DAMPING = 25.0, 10.0  # Koren's lambda_2 and lambda_3


@dataclass(frozen=True, kw_only=True)
class AlternatingSVD:
    """SVD and SVD++ (Koren 2008) by alternating least squares, ignoring the channel.

    `factors`: K. `ridge`: on each p_u and q_i, or None to choose it from the reports. `sweeps`:
    number of sweeps. `implicit`: whether to use implicit feedback (SVD++).
    """

    factors: int = 20
    ridge: float | None = None
    sweeps: int = 15
    implicit: bool = False

    def __post_init__(self) -> None:
        integer("factors", self.factors, 1)

    @property
    def name(self) -> str:
        """Name of the model on the command line."""
        return "als-svdpp" if self.implicit else "als-svd"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Fit to the reported numbers as if they were ratings.

        Predictions are clipped to the scale.
        """
        factors = at_best_ridge(
            data, self.ridge, lambda train, ridge: self._factorize(train, ridge, rng)
        )
        advance(1.0)
        return as_fitted(self.name, data, factors)

    def _factorize(self, data: Evidence, ridge: float, rng: int) -> Factors:
        state = Alternation.start(data, self.factors, ridge, rng)
        for _ in range(self.sweeps):
            if self.implicit:
                state.descend_implicit(RATE, RIDGE)
            state.solve_people()
            state.solve_items()
        return state.factors()


@dataclass(eq=False)
class Alternation:
    """State of the sweeps, in stars.

    `at`: parameters, with b_u and b_i fixed. `z`: of every user, shape (users, K). `left`: c_ui of
    every report, shape (n,). `centred`: r - mu.
    """

    data: Evidence
    mu: float
    centred: Doubles
    at: Parameters
    z: Doubles
    left: Floats
    ridge: Floats

    @classmethod
    def start(cls, data: Evidence, factors: int, ridge: float, rng: int) -> Self:
        """Return damped biases, small random item factors, and zero user and implicit factors."""
        mu, centred = in_stars(data)
        m, n = len(data.user_ids), len(data.item_ids)
        b_u, b_i = damped_biases(data, centred)
        left = centred - b_u[data.user_of] - b_i[data.item_of]
        q = START * np.random.default_rng(rng).standard_normal((n, factors))
        still = np.zeros((m, factors))
        at = Parameters(b_u, b_i, still, q, np.zeros((n, factors)))
        ridges = np.full(factors, ridge, np.float32)
        return cls(data, mu, centred, at, still, left.astype(np.float32), ridges)

    def descend_implicit(self, rate: float, ridge: float) -> None:
        """Run one epoch for every y_j on the errors of the complete prediction."""
        users = self.data.layout.users
        descend(users, self.centred, self.at, Rates(0.0, 0.0, 0.0, rate), ridge)
        self.z = implicit(users, self.at.y)

    def solve_people(self) -> None:
        """Solve for every p_u, given items and z."""
        cells = self.data.user_of, self.data.item_of
        shared = bilinear(*cells, 0.0, _unbiased(self.z), _unbiased(self.at.q))
        p = half_step(self.data.layout.users, self._problem(self.at.q, self.left - shared))
        self.at = self.at._replace(p=p.astype(np.float64))

    def solve_items(self) -> None:
        """Solve for every q_i, given the user rows p_u + z_u."""
        q = half_step(self.data.layout.items, self._problem(self.at.p + self.z, self.left))
        self.at = self.at._replace(q=q.astype(np.float64))

    def factors(self) -> Factors:
        """Return the prediction as one bilinear form, on the scale of the data."""
        unit, held = star(self.data), np.r_[np.float32(PERSON_DAMPING), self.ridge]
        rows = unit * np.column_stack([self.at.b_u, self.at.p + self.z])
        items = np.column_stack([unit * self.at.b_i, self.at.q])
        return Factors(self.mu, rows.astype(np.float32), items.astype(np.float32), held)

    def _problem(self, other: Doubles, target: Floats) -> SideProblem:
        even, none = np.ones(len(target), np.float32), np.zeros(len(other), np.float32)
        return SideProblem(target, even, other.astype(np.float32), none, self.ridge)


def damped_biases(data: Evidence, centred: Doubles) -> tuple[Doubles, Doubles]:
    """Return b_u and b_i, damped means of the residuals: items first, then users."""
    users, items = data.user_of, data.item_of
    b_i = _damped(items, centred, len(data.item_ids), ITEM_DAMPING)
    return _damped(users, centred - b_i[items], len(data.user_ids), PERSON_DAMPING), b_i


def _damped(rows: NDArray[np.int32], values: Doubles, count: int, damping: float) -> Doubles:
    sums = np.bincount(rows, values, count).astype(np.float64)
    return sums / (damping + np.bincount(rows, minlength=count))


def _unbiased(factors: Doubles) -> Floats:
    return np.pad(factors, ((0, 0), (1, 0))).astype(np.float32)
