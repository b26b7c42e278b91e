"""Matrix completion by nuclear norm (Zheng 2022, equation (4)), residual norm at most rho.

    min ||M||_*   subject to   ||P(M - Z)||_F <= rho

Z are the reported numbers, ignoring the channel; P projects on the reported cells. The solution at
rho is that of ||P(M - Z)||^2 / 2 + lambda ||M||_* for one lambda, found by the secant rule.

The paper does not centre, and requires rho, which depends on the number of ratings and so on what
its own channels hide. Here users and items have biases, as in `mf`, unless `biases` is off: ||M||_*
+ (||b_u||^2 + ||b_i||^2) / 4 is minimized, and rho bounds the residual of the complete fit. Without
rho, lambda is chosen on held-out *reports*, and rho is the resulting residual: no private value is
read. The declared noise of the channels would be valid too, but is too large a rho: a good fit
absorbs some of the noise, and at small epsilon even M = 0 leaves no more than all of it.

Definition 2 of the paper, for modified Laplace, normalises ratings to [-1, 1]: M = 0 is the middle
of the scale, and rho is in half ranges. `centre="scale"` is that form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.least_squares.mf import as_fitted
from tacit.models.least_squares.nuclear_norm import SoftImpute
from tacit.models.least_squares.ridge import held_out, mean_square

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


PACE = np.sqrt(2)  # ratio of consecutive candidates for lambda
PATIENCE = 2  # consecutive candidates that may be worse than the best
LOOSE = 1e-2  # gap of a candidate's solve
CLOSE, STEPS = 1e-5, 40  # relative tolerance of the residual against rho, and most secant steps
LEAST = 1e-5  # least lambda, as a fraction of ||Z||_2


@dataclass(frozen=True, kw_only=True)
class Completion:
    """Matrix completion by nuclear norm (Zheng 2022, equation (4)), residual norm at most rho.

    `rho`: bound on the Frobenius norm of the residual, in rating units, or None. `shrinkage`:
    lambda, in rating units, or None; without both it is chosen from the reports. `rank`: most of M.
    `biases`: whether users and items have biases. `centre`: value of M = 0 without biases, 0 or,
    for "scale", the middle of the scale; then `rho` and `shrinkage` are in half ranges. `gap`:
    relative optimality gap at which the solver stops.
    """

    rho: float | None = None
    shrinkage: float | None = None
    rank: int = 64
    biases: bool = True
    centre: Literal["zero", "scale"] = "zero"
    gap: float = 1e-3

    name = "completion"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Fit to the reported numbers as if they were ratings.

        Raises `RequestError` for both rho and shrinkage, for a setting that is not positive, for a
        centre together with biases, and for a rho that no matrix of the rank attains.
        """
        del rng  # deterministic
        self._check()
        problem = self._start(data)
        unit = half_range(data) if self.centre == "scale" else 1.0
        if self.rho is not None:
            within(problem, self.rho * unit, self.gap)
        elif self.shrinkage is not None:
            problem.solve(self.shrinkage * unit, self.gap)
        else:
            problem.solve(self._choose(data), self.gap)
        advance(1.0)
        return as_fitted(self.name, data, problem.factors)

    def _start(self, data: Evidence) -> SoftImpute:
        middle = data.scale.values[0] + half_range(data)
        centre = middle if self.centre == "scale" else 0.0
        return SoftImpute.start(
            data, data.values, rank=self.rank, biases=self.biases, centre=centre
        )

    def _choose(self, data: Evidence) -> float:
        """Return the lambda of least error on a held-out tenth of the reports.

        Candidates decrease from the largest singular value.
        """
        train, test = held_out(data)
        problem = self._start(train)
        shrinkage = chosen = problem.norm or 1.0
        least, worse, lower_bound = np.inf, 0, shrinkage * LEAST
        while worse < PATIENCE and shrinkage > lower_bound:
            problem.solve(shrinkage, LOOSE)
            error = mean_square(problem.factors.predict(test) - test.values)
            worse = 0 if error < least else worse + 1
            if error < least:
                chosen, least = shrinkage, error
            shrinkage /= PACE
        return chosen

    def _check(self) -> None:
        for name in ("rho", "shrinkage", "rank", "gap"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise RequestError(
                    f"{name} must be above 0, got {value}; increase it, or leave it out."
                )
        if self.centre == "scale" and self.biases:
            raise RequestError(
                "centre='scale' requires biases=False, because biases already include a centre."
            )
        if self.rho is not None and self.shrinkage is not None:
            raise RequestError(
                f"rho and shrinkage cannot be combined, got rho {self.rho} and shrinkage "
                f"{self.shrinkage}; leave out one of them."
            )


def half_range(data: Evidence) -> float:
    """Return half the distance from the lowest level to the highest, the unit of [-1, 1]."""
    return (data.scale.values[-1] - data.scale.values[0]) / 2


def within(problem: SoftImpute, rho: float, gap: float) -> None:
    """Solve with the lambda that leaves a residual of norm `rho`; M stays 0 if ||Z|| is smaller.

    Raises `RequestError` if the rank does not allow so small a residual.
    """
    if rho >= problem.distance:
        return
    lower_bound = np.log(problem.norm * LEAST)

    def beyond(log: float) -> float:
        problem.solve(float(np.exp(log)), gap)
        return float(np.log(problem.distance / rho))

    low = high = float(np.log(problem.norm))
    under = over = beyond(low)
    while under > 0:
        high, over, low = low, under, low - 1
        if low < lower_bound:
            raise RequestError(
                f"No matrix of rank {problem.rank} is within rho {rho} of the reports; use a "
                "larger rho or rank."
            )
        under = beyond(low)
    while over < 0:
        low, under, high = high, over, high + 1
        over = beyond(high)
    _secant(beyond, (low, under), (high, over))


def _secant(
    beyond: Callable[[float], float], low: tuple[float, float], high: tuple[float, float]
) -> None:
    """Find a root of the increasing function `beyond`, bracketed by `low` and `high`, (x, value).

    The last call of `beyond` is near the root. Each solve starts from the last one, so values at a
    point still decrease slightly: no bracket is retained, and slopes stay near the first, that of
    the chord.
    """
    slope = chord = (high[1] - low[1]) / (high[0] - low[0])
    at, value = min(low, high, key=lambda end: abs(end[1]))
    for _ in range(STEPS):
        step = -value / slope
        at, last, value = at + step, value, beyond(at + step)
        if abs(value) <= CLOSE:
            return
        slope = min(max((value - last) / step, chord / 3), chord * 3)
