"""Factors of residuals by alternating noisy solves: objective and output perturbation, strict.

Residuals e of released biases are clipped to [-B, B] and the rows of both sides to norm 1 in units
of sqrt B, so one rating changes the right-hand side sum e q of one solve by at most 2 B, in L2.
Given the rows of the other side, which are released, the Gram matrix does not depend on any
rating's value, so only the right-hand side must be protected:

    objective: release  sum e q + noise,  density exp(-epsilon_s ||.|| / 2 B), and solve exactly
    output:    solve exactly, release the row + noise at `ridge_sensitivity`

The first is Xian et al.'s Algorithm 2 where its proof holds: b has density exp(-beta ||b||) with
beta = epsilon_s / (2 q_max Dr), and neither Delta nor epsilon' is needed, because the Hessian is
the same for neighbouring data. Solves of one side use disjoint ratings, so a sweep costs 2
epsilon_s.

Factors by gradient descent on noisy errors: Xian et al.'s Algorithm 1, strict.

In each of k epochs every error gets fresh noise, and is then clipped, e' = clip(r - r^ + noise).
The model r^ is computed from earlier noisy errors, so this equals descent on k noisy copies of the
residuals, one per epoch: these copies are released. Ratings are disjoint records at the unit
`value`, so a copy costs its epsilon once for all of them. It is input perturbation, k times over:
one copy at k times the epsilon would have k times less variance than the mean of all k.

Implicit part of SVD++ as post-processing: user factors predicted from presence.

z_u = |N(u)|^-1/2 sum over j in N(u) of y_j. Presence is public at the unit `value`, and the rows
x_u are released; y is the ridge regression of these rows on the public table, and reads no rating.
The paper's estimate of y is lost; its use of raw ratings is one reason why the claim fails.

Rows from noisy normal equations: the paper's ridge solution, and the posterior mean.

A release equals  c x + error  in the eigenbasis of the Gram matrix A, whose eigenvalues are a:

    objective perturbation   c = a             error variance  s^2 a + v
    output perturbation      c = a / (a + l)   error variance  s^2 a / (a + l)^2 + v

s^2 is the variance of a rating around x . q, v that of the added noise in each entry: both public.
With x ~ Normal(z, t^2) the posterior mean is z + (release - c z) c / (c^2 + error variance / t^2).
It is post-processing without privacy cost, and shrinks noise.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from tacit.kernels.als import grams, integer_sums
from tacit.kernels.layout import Layout, Side
from tacit.kernels.sgd import Parameters, Rates, descend, implicit
from tacit.training.mechanism.noisy_releases import NoisyReleases

Doubles = NDArray[np.float64]
Where = Literal["objective", "output"]


@dataclass(frozen=True)
class Law:
    """`rating`: s^2. `noise`: v. `prior`: t^2. `ridge`: l. In units of the residual's bound."""

    rating: float
    noise: float
    prior: float
    ridge: float


def ridge_rows(grams: Doubles, right: Doubles, ridge: float) -> Doubles:
    """Return (A + l I)^-1 right, row by row; shapes (rows, K, K) and (rows, K)."""
    held = grams + ridge * np.eye(grams.shape[1])
    return np.asarray(np.linalg.solve(held, right[:, :, None])[:, :, 0], np.float64)


def posterior_rows(
    grams: Doubles, released: Doubles, means: Doubles, law: Law, where: Where
) -> Doubles:
    """Return the posterior mean of each row, shape (rows, K). `means`: z.

    `grams`: shape (rows, K, K). `released`, `means`: shape (rows, K).
    """
    eigenvalues, basis = np.linalg.eigh(grams)
    a = np.maximum(eigenvalues, 0)
    held = a + law.ridge if where == "output" else 1.0
    c = a / held
    error = law.rating * a / held**2 + law.noise
    gain = c / np.maximum(c**2 + error / law.prior, 1e-300)
    inside = _turned(basis.transpose(0, 2, 1), released) - c * _turned(
        basis.transpose(0, 2, 1), means
    )
    return means + _turned(basis, gain * inside)


def ridge_sensitivity(change: float, norm: float, ridge: float) -> float:
    """Return the L2 change of (Q'Q + l I)^-1 Q'r when one entry of r changes by `change`.

    At most change t / (l + t^2) with t = min(norm, sqrt l), for any Q with rows of norm at most
    `norm`: Sherman and Morrison give ||M^-1 q|| <= sqrt(s / l) / (1 + s), s = q' M_-q^-1 q <=
    norm^2 / l. This is at most change / (2 sqrt l), where the paper's bound is change norm / l.
    """
    return float(ridge_sensitivities(change, norm, np.array([ridge]))[0])


def ridge_sensitivities(change: float, norm: float, ridges: Doubles) -> Doubles:
    """Return `ridge_sensitivity` for each of `ridges`, (rows,)."""
    t = np.minimum(norm, np.sqrt(ridges))
    return change * t / (ridges + t * t)


def _turned(basis: Doubles, rows: Doubles) -> Doubles:
    return np.einsum("rij,rj->ri", basis, rows)


Ints = NDArray[np.int64]

ROW_STEPS = 1 << 10
"""Grid steps per unit norm of a row."""

OUTPUT_STEPS = 1 << 20
"""Grid steps per unit norm of a solved row, where that is released."""

RATING, EXPLAINED = 0.85, 0.12
"""Public guesses: variance of a residual's noise, and of x . q, in units of B squared."""


@dataclass(frozen=True, kw_only=True)
class FactorBudget:
    """Budget of factors; 2 `sweeps` solves are paid.

    `epsilon`: of one solve, a decimal string, in nats per rating value. `rank`: K.
    """

    epsilon: str
    sweeps: int
    rank: int

    @property
    def prior(self) -> float:
        """t^2, the variance of a row's entry."""
        return (EXPLAINED / self.rank) ** 0.5


@dataclass(frozen=True, eq=False)
class NoisyFactors:
    """Rows of both sides, in units of sqrt B: `people` (m, K), `items` (n, K)."""

    people: Doubles
    items: Doubles


def released_factors(
    layout: Layout,
    residuals: Ints,
    bound: int,
    releases: NoisyReleases,
    budget: FactorBudget,
    *,
    where: Where,
    implicit: bool,
    ridge: float,
    rng: int,
) -> NoisyFactors:
    """Return both sides after `budget.sweeps` sweeps from a public random start.

    `residuals`: in steps, within [-bound, bound], canonical order, shape (ratings,). `implicit`:
    whether user rows are shrunk to z_u = |N(u)|^-1/2 sum y_j instead of zero, y fitted to the
    released rows (SVD++).
    """

    generator = np.random.default_rng(rng)
    m, n = len(layout.users.counts), len(layout.items.counts)
    spread = budget.prior**0.5
    items = snapped(spread * generator.standard_normal((n, budget.rank)))
    people = np.zeros((m, budget.rank))
    for sweep in range(budget.sweeps):
        step = _Step(releases, budget, bound, where, ridge)
        zero = np.zeros_like(people)
        people = step.solved(f"people, sweep {sweep}", layout.users, items, residuals, zero)
        if implicit:
            means = prior_rows(layout.users, n, people, budget.prior)
            people = step.again(layout.users, items, means)
        people = snapped(people)
        none = np.zeros_like(items)
        items = snapped(step.solved(f"items, sweep {sweep}", layout.items, people, residuals, none))
    return NoisyFactors(people, items)


def snapped(rows: Doubles) -> Doubles:
    """Project rows to norm at most 1 and round them towards zero to the grid.

    Shape (rows, K).
    """
    norms = np.sqrt((rows**2).sum(1, keepdims=True))
    inside = rows / np.maximum(norms, 1)
    return np.trunc(inside * ROW_STEPS * (1 - 1e-12)) / ROW_STEPS


@dataclass
class _Step:
    """One solve of one side, and its release."""

    releases: NoisyReleases
    budget: FactorBudget
    bound: int
    where: Where
    ridge: float

    def solved(
        self, name: str, side: Side, design: Doubles, residuals: Ints, means: Doubles
    ) -> Doubles:
        """Return the rows of `side` given the other side's, shrunk to `means`."""
        self._grams = grams(side, design)
        steps = np.rint(design * ROW_STEPS).astype(np.int64)
        right = integer_sums(side, steps, residuals)
        if self.where == "objective":
            self._released, self._law = self._objective(name, right)
        else:
            self._released, self._law = self._output(name, right)
        return posterior_rows(self._grams, self._released, means, self._law, self.where)

    def again(self, side: Side, design: Doubles, means: Doubles) -> Doubles:
        """Return the same release with other means, without privacy cost."""
        return posterior_rows(self._grams, self._released, means, self._law, self.where)

    def _objective(self, name: str, right: Ints) -> tuple[Doubles, Law]:
        unit = ROW_STEPS * self.bound
        # One residual changes by at most 2 B, times a row of norm at most 1: exact in integers.
        noisy = self.releases.vectors(
            name, right, sensitivity=2 * unit, epsilon=self.budget.epsilon
        )
        return noisy / unit, self._law_of(2.0)

    def _output(self, name: str, right: Ints) -> tuple[Doubles, Law]:
        exact = ridge_rows(self._grams, right / (ROW_STEPS * self.bound), self.ridge)
        sensitivity = ridge_sensitivity(2.0, 1.0, self.ridge)
        # Rounding moves each of two solutions by at most half a step an entry, sqrt K in all.
        steps = int(np.ceil(sensitivity * OUTPUT_STEPS + self.budget.rank**0.5)) + 1
        noisy = self.releases.vectors(
            name,
            np.rint(exact * OUTPUT_STEPS).astype(np.int64),
            sensitivity=steps,
            epsilon=self.budget.epsilon,
        )
        return noisy / OUTPUT_STEPS, self._law_of(sensitivity)

    def _law_of(self, sensitivity: float) -> Law:
        # E ||noise||^2 = K (K + 1) (sensitivity / epsilon)^2, spread over K entries.
        scale = sensitivity / float(self.budget.epsilon)
        noise = (self.budget.rank + 1) * scale**2
        return Law(RATING, noise, self.budget.prior, self.ridge)


SHARE = 0.5
"""Prior fraction of the variance of user rows that presence explains."""


def prior_rows(side: Side, items: int, rows: Doubles, prior: float) -> Doubles:
    """Return z of all users, shape (users, K). `rows`: released. `prior`: variance of an entry.

    Minimises sum ||x_u - z_u||^2 / v + ||y||^2 / w by conjugate gradients, w = `SHARE` of the prior
    and v the rest of it: N(u) has unit norm in z, so that z_u has variance w.
    """
    table = _table(side, items)
    ridge = (1 - SHARE) / SHARE
    system = LinearOperator(
        (items, items), matvec=lambda y: table.T @ (table @ y) + ridge * y, dtype=np.float64
    )
    right = table.T @ rows
    y = np.column_stack([cg(system, column, rtol=1e-6, maxiter=200)[0] for column in right.T])
    return table @ y


def _table(side: Side, items: int) -> csr_array:
    weights = np.repeat(1 / np.sqrt(np.maximum(side.counts, 1)), side.counts)
    return csr_array((weights, side.other, side.start), shape=(len(side.counts), items))


RATE, RIDGE, MOST = 0.02, 0.05, 2.0
"""Learning rate, ridge per error, and clipping bound of noisy errors in units of the bound. All are
ours except the last, two stars as in the literature."""


@dataclass(frozen=True, kw_only=True)
class GradientBudget:
    """`epsilon`: of one epoch, a decimal string, in nats per rating value.

    `epochs`: their number.
    """

    epsilon: str
    epochs: int
    rank: int

    @property
    def prior(self) -> float:
        """Variance of a row's entry."""
        return (EXPLAINED / self.rank) ** 0.5


def gradient_factors(
    layout: Layout,
    residuals: Ints,
    bound: int,
    releases: NoisyReleases,
    budget: GradientBudget,
    *,
    shared: bool,
    rng: int,
) -> NoisyFactors:
    """Return both sides after `budget.epochs` epochs. `shared`: add z_u to user rows (SVD++).

    `residuals`: in steps, within [-bound, bound], canonical order, shape (ratings,).
    """
    generator = np.random.default_rng(rng)
    m, n = len(layout.users.counts), len(layout.items.counts)
    start = budget.prior**0.5 / 2
    p, q, y = (start * generator.standard_normal((rows, budget.rank)) for rows in (m, n, n))
    at = Parameters(np.zeros(m), np.zeros(n), p, q, y * shared)
    rates = Rates(0.0, RATE, RATE, RATE * shared)
    for epoch in range(budget.epochs):
        noisy = releases.laplace(
            f"errors, epoch {epoch}", residuals, sensitivity=2 * bound, epsilon=budget.epsilon
        )
        descend(layout.users, noisy / bound, at, rates, RIDGE, MOST)
    return NoisyFactors(at.p + implicit(layout.users, at.y), at.q)
