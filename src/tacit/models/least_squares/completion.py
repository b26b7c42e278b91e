"""Matrix completion by nuclear norm (Zheng 2022, equation (4)), residual norm at most rho.

    min ||M||_*   subject to   ||P(M - Z)||_F <= rho

Z are the reported numbers, read naively; P keeps the cells that were reported. Its solution at rho
is that of ||P(M - Z)||^2 / 2 + lambda ||M||_* for one lambda, found by the secant rule.

The paper centres nothing and needs rho told, which depends on how many ratings there are and so on
what its own channels hide. Here people and items have levels, as in `mf`, unless `biases` is off:
||M||_* + (||b_u||^2 + ||b_i||^2) / 4 is then least, and rho bounds what the whole fit leaves.
Without a rho lambda is chosen on held-out *reports*, and rho is whatever that leaves: no private
truth is read. The noise that the channels declare would be sound too, but as a rho it is too large:
a good fit takes some of the noise up, and at small epsilon M = 0 leaves no more than all of it.

Definition 2 of the paper, for modified Laplace, normalises ratings to [-1, 1]: there M = 0 is the
middle of the scale, and rho counts in half ranges. `centre="scale"` is that form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.errors import RequestError
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.least_squares.mf import as_fitted
from tacit.models.least_squares.nuclear_norm import SoftImpute
from tacit.models.least_squares.ridge import held_out, squared_error

PACE = np.sqrt(2)  # from one candidate for lambda to the next
PATIENCE = 2  # candidates in a row that may be worse than the best
LOOSE = 1e-2  # gap of a candidate's solve
CLOSE, STEPS = 1e-5, 40  # how near rho the residual comes, as a share, and steps at most
LEAST = 1e-5  # lambda, as a share of ||Z||_2, below which nothing more is fitted


@dataclass(frozen=True, kw_only=True)
class Completion:
    """`rho`: the Frobenius norm of what the fit leaves of the reports, in rating units, or None.
    `shrinkage`: lambda, in rating units, or None; without both it is chosen from the reports.
    `rank`: of M at most. `biases`: whether people and items have their own level. `centre`: where M
    = 0 is without them, at no stars or, for "scale", at the middle; then `rho` and `shrinkage` are
    in half ranges. `gap`: how far from the least objective the fit may end, as a share of it."""

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
        """Learn from the reported numbers as if they were ratings.

        Raises `RequestError` for both a rho and a shrinkage, for a setting that is not positive,
        for a centre beside biases, and for a rho that no matrix of the given rank reaches.
        """
        del rng  # nothing here is random
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
        """The lambda whose fit on 9 in 10 reports comes nearest to the tenth; from above."""
        train, test = held_out(data)
        problem = self._start(train)
        shrinkage = chosen = problem.norm or 1.0
        least, worse, floor = np.inf, 0, shrinkage * LEAST
        while worse < PATIENCE and shrinkage > floor:
            problem.solve(shrinkage, LOOSE)
            error = squared_error(problem.factors, test)
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
                "centre='scale' requires biases=False, because biases include a center."
            )
        if self.rho is not None and self.shrinkage is not None:
            raise RequestError(
                f"rho and shrinkage exclude each other, got rho {self.rho} and shrinkage "
                f"{self.shrinkage}; leave out one of them."
            )


def half_range(data: Evidence) -> float:
    """Half the way from the lowest level to the highest: the 1 of a scale brought to [-1, 1]."""
    return (data.scale.values[-1] - data.scale.values[0]) / 2


def within(problem: SoftImpute, rho: float, gap: float) -> None:
    """Solve with the lambda that leaves a residual of norm `rho`; M stays 0 if Z is no longer.

    Raises `RequestError` when the rank does not allow a residual so small.
    """
    if rho >= problem.distance:
        return
    floor = np.log(problem.norm * LEAST)

    def beyond(log: float) -> float:
        problem.solve(float(np.exp(log)), gap)
        return float(np.log(problem.distance / rho))

    low = high = float(np.log(problem.norm))
    under = over = beyond(low)
    while under > 0:
        high, over, low = low, under, low - 1
        if low < floor:
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
    """Call `beyond` last where it is nearly 0: it rises from `low` to `high`, (place, value).

    Each solve goes on from the last one, so that `beyond` still falls a little where it has been:
    no bracket is kept, and slopes stay near the first, that of the chord.
    """
    slope = chord = (high[1] - low[1]) / (high[0] - low[0])
    at, value = min(low, high, key=lambda end: abs(end[1]))
    for _ in range(STEPS):
        step = -value / slope
        at, last, value = at + step, value, beyond(at + step)
        if abs(value) <= CLOSE:
            return
        slope = min(max((value - last) / step, chord / 3), chord * 3)
