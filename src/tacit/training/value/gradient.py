"""Factors by gradient descent on noisy errors: Xian et al.'s Algorithm 1, strict.

In each of k epochs every error gets fresh noise, and is then clipped, e' = clip(r - r^ + noise).
The model r^ is computed from earlier noisy errors, so this equals descent on k noisy copies of the
residuals, one per epoch: these copies are released. Ratings are disjoint records at the unit
`value`, so a copy costs its epsilon once for all of them. It is input perturbation, k times over:
one copy at k times the epsilon would have k times less variance than the mean of all k.
"""

from dataclasses import dataclass

import numpy as np

from tacit.kernels.layout import Layout
from tacit.kernels.sgd import Parameters, Rates, descend, implicit
from tacit.training.mechanism.noisy_releases import NoisyReleases
from tacit.training.value.factors import EXPLAINED, Ints, NoisyFactors

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
