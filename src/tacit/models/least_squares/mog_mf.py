"""mog-mf (Neera et al.): matrix factorization under mixture-of-Gaussians noise, by EM.

    r*_ij = u_i . v_j + n_ij,   n_ij ~ sum_k pi_k N(0, sigma_k^2)

    E    gamma_ijk  proportional to  pi_k N(r*_ij; u_i . v_j, sigma_k^2)
    M1   pi_k = mean gamma_k,  sigma_k^2 = sum gamma_k (r* - u.v)^2 / sum gamma_k
    M2   weighted ALS with w_ij = sum_k gamma_ijk / (2 sigma_k^2)

The paper prints w with a square root *and* uses it outside the square; that is not an EM step and
is kept behind `sqrt_weights`. The noise of a bounded channel is neither centred nor independent of
the rating, which this model cannot say; `channel-mf` can.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.least_squares.factors import FREE, Factors
from tacit.models.least_squares.mf import as_fitted
from tacit.models.least_squares.ridge import at_best_ridge

Doubles = NDArray[np.float64]
SIGMA_FLOOR = 1e-3  # on the rating scale; below it a component has collapsed onto single reports


@dataclass(frozen=True, kw_only=True)
class MoGMF:
    """`factors`: K; `components`: of the noise; `ridge`: relative to the mean weight, None to
    choose it from the reports; `rounds`: of EM, one ALS sweep each. All but the mixture are ours:
    the paper states none of them. `sqrt_weights`: the printed variant."""

    factors: int = 8
    components: int = 3
    ridge: float | None = None
    rounds: int = 20
    sqrt_weights: bool = False

    name = "mog-mf"

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Learn from the reported numbers."""
        factors = at_best_ridge(
            data, self.ridge, lambda train, ridge: self._factorize(train, ridge, rng)
        )
        advance(1.0)
        return as_fitted(self.name, data, factors)

    def _factorize(self, data: Evidence, ridge: float, rng: int) -> Factors:
        factors = Factors.start(data, self.factors, ridge, float(FREE), rng)
        spread = float(np.std(data.values - factors.mu)) + SIGMA_FLOOR
        noise = Mixture.start(self.components, spread)
        for _ in range(self.rounds):
            residual = (data.values - factors.predict(data)).astype(np.float64)
            weight = noise.step(residual)
            if self.sqrt_weights:
                weight = np.sqrt(weight)
            # The ridge stays relative to the mean weight: then it means the same at every epsilon.
            factors.sweep(data, data.values, (weight / weight.mean()).astype(np.float32))
        return factors


@dataclass(eq=False)
class Mixture:
    """Zero-mean Gaussians: `share` pi_k and `sigma` sigma_k, shape (components,)."""

    share: Doubles
    sigma: Doubles

    @classmethod
    def start(cls, components: int, spread: float) -> "Mixture":
        """Equal shares, deviations spread around the residuals' own."""
        ladder = np.geomspace(0.5, 2.0, components) if components > 1 else np.ones(1)
        return cls(np.full(components, 1 / components), spread * ladder)

    def step(self, residual: Doubles) -> Doubles:
        """One E and M1 step; returns the weights w of M2, shape (n,)."""
        gamma = self.responsibilities(residual)
        total = gamma.sum(1) + 1e-12
        self.share = total / total.sum()
        self.sigma = np.maximum(np.sqrt(gamma @ residual**2 / total), SIGMA_FLOOR)
        return (0.5 / self.sigma**2) @ gamma

    def responsibilities(self, residual: Doubles) -> Doubles:
        """gamma, shape (components, n)."""
        share, sigma = self.share[:, None], self.sigma[:, None]
        log = np.log(share / sigma) - (residual / sigma) ** 2 / 2
        log -= log.max(0)
        gamma = np.exp(log)
        return gamma / gamma.sum(0)
