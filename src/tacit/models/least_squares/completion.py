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
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.least_squares.half_steps import FREE, Factors
from tacit.models.least_squares.mf import as_fitted
from tacit.models.least_squares.ridge import held_out, squared_error
from tacit.models.least_squares.sparse_svd import balanced, norm, outside

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
SWEEPS, LOOKS = 3, 300  # sweeps between convergence checks, and most checks
ENTER = 8  # directions added per check, or as many as M has
NEAR, SEED = 0.05, 0.1  # fractions of lambda: tolerance of entering directions, and their value
FAR = 0.01  # relative slack above which the fit is far from convergence
FAINT = 1e-4  # singular values below this fraction of lambda are rounding errors


@dataclass(eq=False)
class SoftImpute:
    """The problem and the best M so far, which is the next solve's initial value.

    `target`: Z, canonical order, shape (n,). `factors`: M, as balanced U and V, and the biases.
    `rank`: most of M. `biases`: whether to fit biases. `shrinkage`: lambda, in units of Z.
    """

    data: Evidence
    target: Floats
    factors: Factors
    rank: int
    biases: bool
    shrinkage: float = np.inf

    @classmethod
    def start(
        cls, data: Evidence, target: Floats, *, rank: int, biases: bool, centre: float = 0.0
    ) -> Self:
        """Return M = 0. Z is centred by its mean with `biases`, otherwise by `centre`."""
        mu = float(target.mean(dtype=np.float64)) if biases else centre
        people, items = np.zeros((len(data.user_ids), 1)), np.zeros((len(data.item_ids), 1))
        ridge = np.array([FREE], np.float32)  # the bias ridge of an infinite lambda
        factors = Factors(mu, people.astype(np.float32), items.astype(np.float32), ridge)
        return cls(data, target, factors, min(rank, len(people), len(items)), biases)

    def solve(self, shrinkage: float, gap: float) -> None:
        """Minimise at lambda = `shrinkage`, up to the relative duality gap `gap`.

        At the cap on the rank it stops when a round of sweeps gains a hundredth of that.
        """
        self.shrinkage, even, last = shrinkage, np.ones(len(self.target), np.float32), np.inf
        self._hold()
        for _ in range(LOOKS):
            for _ in range(SWEEPS):
                self.factors.sweep(self.data, self.target, even)
            self._balance()
            now, full = self.objective, len(self.values) == self.rank
            off = self.slack / now if now > 0 else 0.0
            if off <= gap or (full and last - now <= 0.01 * gap * now):
                return
            last = now
            self._grow(min(off / FAR, 1))

    @property
    def balanced(self) -> tuple[Doubles, Doubles]:
        """U and V, shapes (users, K) and (items, K), with U'U = V'V diagonal and M = U V'."""
        people, items = self.factors.people, self.factors.items
        return people[:, 1:].astype(np.float64), items[:, 1:].astype(np.float64)

    @property
    def values(self) -> Doubles:
        """Singular values of M, shape (K,)."""
        return np.square(self.balanced[0]).sum(0)

    @property
    def residual(self) -> Doubles:
        """R at the reported cells, shape (n,)."""
        return (self.target - self.factors.predict(self.data)).astype(np.float64)

    @property
    def distance(self) -> float:
        """||R||_F, which equation (4) of Zheng bounds by rho."""
        return float(np.linalg.norm(self.residual))

    @property
    def norm(self) -> float:
        """||R||_2."""
        return norm(self._matrix(self.residual))

    @property
    def objective(self) -> float:
        """||R||_F^2 / 2 + lambda (||M||_* + (||b_u||^2 + ||b_i||^2) / 4)."""
        levels = np.concatenate([self.factors.people[:, 0], self.factors.items[:, 0]])
        held = float(self.values.sum() + np.square(levels, dtype=np.float64).sum() / 4)
        return self.distance**2 / 2 + self.shrinkage * held

    @property
    def slack(self) -> float:
        """Duality gap, an upper bound on the distance from the least objective.

        The dual is <Y, Z> - ||Y||_F^2 / 2 - (||Y 1||^2 + ||Y' 1||^2) / lambda, ||Y||_2 <= lambda,
        its last term with biases only.
        """
        R = self.residual
        Y = self._matrix(R * (self.shrinkage / max(self.norm, self.shrinkage)))
        dual = float(Y.data @ (self.target - self.factors.mu)) - float(Y.data @ Y.data) / 2
        if self.biases:
            dual -= float(np.sum(Y.sum(0) ** 2) + np.sum(Y.sum(1) ** 2)) / self.shrinkage
        return self.objective - dual

    def _hold(self) -> None:
        bias = self.shrinkage / 2 if self.biases else float(FREE)
        columns = self.factors.people.shape[1] - 1
        self.factors.ridge = np.array([bias] + [self.shrinkage] * columns, np.float32)

    def _balance(self) -> None:
        """Rebalance the columns of M and drop those at rounding level."""
        U, D, V = balanced(*self.balanced)
        retained = FAINT * self.shrinkage < D
        self._replace(U[:, retained], V[:, retained])

    def _grow(self, share: float) -> None:
        """Take a soft-impute step in new directions: W's singular values, shrunk by lambda.

        The values are lower bounds, so those slightly below lambda enter with a small value, and
        the following sweeps grow or shrink them. `share`: how small, 1 far from convergence.
        """
        columns, (U, V) = len(self.values), self.balanced
        room = min(max(ENTER, columns), self.rank - columns)
        if room == 0:
            return
        root = np.sqrt(self.values)
        left, values, right = outside(self._matrix(self.residual), U / root, V / root, room)
        over = values / self.shrinkage - 1
        new = over > -NEAR * share
        size = np.sqrt(self.shrinkage * np.maximum(over, SEED * share))
        self._replace(
            np.hstack([U, left[:, new] * size[new]]), np.hstack([V, right[:, new] * size[new]])
        )

    def _replace(self, U: Doubles, V: Doubles) -> None:
        levels = self.factors.people[:, :1], self.factors.items[:, :1]
        self.factors.people = np.hstack([levels[0], U]).astype(np.float32, order="C")
        self.factors.items = np.hstack([levels[1], V]).astype(np.float32, order="C")
        self._hold()

    def _matrix(self, cells: Doubles) -> csr_array:
        side = self.data.layout.users
        shape = len(self.data.user_ids), len(self.data.item_ids)
        return csr_array((cells, side.other, side.start), shape=shape)


PACE = np.sqrt(2)  # ratio of consecutive candidates for lambda
PATIENCE = 2  # consecutive candidates that may be worse than the best
LOOSE = 1e-2  # gap of a candidate's solve
CLOSE, STEPS = 1e-5, 40  # relative tolerance of the residual against rho, and most secant steps
LEAST = 1e-5  # least lambda, as a fraction of ||Z||_2


@dataclass(frozen=True, kw_only=True)
class Completion:
    """Settings of matrix completion.

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
