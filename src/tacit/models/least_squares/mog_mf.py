"""MoG-MF (Neera et al. 2021): matrix factorization with mixture-of-Gaussians noise, by EM.

    r*_ij = u_i . v_j + n_ij,   n_ij ~ sum_k pi_k N(0, sigma_k^2)

    E    gamma_ijk  proportional to  pi_k N(r*_ij; u_i . v_j, sigma_k^2)
    M1   pi_k = mean gamma_k,  sigma_k^2 = sum gamma_k (r* - u.v)^2 / sum gamma_k
    M2   weighted ALS with w_ij = sum_k gamma_ijk / (2 sigma_k^2)

The paper prints w with a square root *and* uses it outside the square. That is not an EM step; it
is available as `sqrt_weights`. `PRINTED` has what section 4.3 states: that root, random starts, no
ridge, no centre, an end when U changes little. Its "weighted PCA" is one sweep of both sides per
round. `EM` is the same without the root. The noise of a bounded channel is neither centred nor
independent of the rating, which this model cannot represent; `channel-mf` can.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.errors import integer
from tacit.models.evidence.evidence import Evidence
from tacit.models.fitted import Fitted
from tacit.models.least_squares.half_steps import FREE, Factors
from tacit.models.least_squares.mf import as_fitted
from tacit.models.least_squares.ridge import at_best_ridge

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
LEAST_SIGMA = 1e-3  # least sigma, on the rating scale: prevents collapse onto single reports


@dataclass(frozen=True, kw_only=True)
class MoGMF:
    """MoG-MF (Neera et al. 2021): matrix factorization with mixture-of-Gaussians noise, by EM.

    `factors`: K. `components`: of the noise. `ridge`: relative to the mean weight, 0 for none, None
    to choose it from the reports. `rounds`: most EM rounds, one sweep of both sides each.
    `tolerance`: relative change of U at which EM stops. `centred`: whether to subtract the mean
    report. `random_start`: also of U and of the mixture. `sqrt_weights`: w as printed. K,
    components, ridge and rounds are ours: the paper states none.
    """

    factors: int = 8
    components: int = 3
    ridge: float | None = None
    rounds: int = 20
    tolerance: float = 0.0
    centred: bool = True
    random_start: bool = False
    sqrt_weights: bool = False

    name = "mog-mf"

    def __post_init__(self) -> None:
        integer("components", self.components, 1)

    def fit(
        self, data: Evidence, *, rng: int = 0, advance: Callable[[float], None] = lambda done: None
    ) -> Fitted:
        """Fit to the reported numbers."""
        factors = at_best_ridge(
            data, self.ridge, lambda train, ridge: self._factorize(train, ridge, rng)
        )
        advance(1.0)
        return as_fitted(self.name, data, factors)

    def _factorize(self, data: Evidence, ridge: float, rng: int) -> Factors:
        factors = Factors.start(data, self.factors, ridge, float(FREE), rng, centred=self.centred)
        spread = float(np.std(data.values - factors.mu)) + LEAST_SIGMA
        noise = Mixture.start(self.components, spread)
        if self.random_start:
            draws = np.random.default_rng([rng, 1])
            factors.scatter_people(draws)
            noise = Mixture.random(self.components, spread, draws)
        for _ in range(self.rounds):
            before = factors.people
            residual = (data.values - factors.predict(data)).astype(np.float64)
            weight = noise.step(residual)
            if self.sqrt_weights:
                weight = np.sqrt(weight)
            # The ridge is relative to the mean weight, so it means the same at every epsilon.
            factors.sweep(data, data.values, (weight / weight.mean()).astype(np.float32))
            if _norm(factors.people - before) < self.tolerance * _norm(before):
                break
        return factors


def _norm(rows: Floats) -> float:
    return float(np.linalg.norm(rows[:, 1:]))


@dataclass(eq=False)
class Mixture:
    """Zero-mean Gaussians: `share` pi_k and `sigma` sigma_k, shape (components,)."""

    share: Doubles
    sigma: Doubles

    @classmethod
    def start(cls, components: int, spread: float) -> "Mixture":
        """Return equal shares and deviations spread around that of the residuals."""
        ladder = np.geomspace(0.5, 2.0, components) if components > 1 else np.ones(1)
        return cls(np.full(components, 1 / components), spread * ladder)

    @classmethod
    def random(cls, components: int, spread: float, rng: np.random.Generator) -> "Mixture":
        """Return random shares and deviations, the start of section 4.3."""
        share = rng.random(components) + 0.1
        return cls(share / share.sum(), spread * (0.5 + rng.random(components)))

    def step(self, residual: Doubles) -> Doubles:
        """Run one E and M1 step. Returns the weights w of M2, shape (n,)."""
        gamma = self.responsibilities(residual)
        total = gamma.sum(1) + 1e-12
        self.share = total / total.sum()
        self.sigma = np.maximum(np.sqrt(gamma @ residual**2 / total), LEAST_SIGMA)
        return (0.5 / self.sigma**2) @ gamma

    def responsibilities(self, residual: Doubles) -> Doubles:
        """Return gamma, shape (components, n)."""
        share, sigma = self.share[:, None], self.sigma[:, None]
        log = np.log(share / sigma) - (residual / sigma) ** 2 / 2
        log -= log.max(0)
        gamma = np.exp(log)
        return gamma / gamma.sum(0)


PRINTED = MoGMF(
    ridge=0.0, rounds=100, tolerance=1e-3, centred=False, random_start=True, sqrt_weights=True
)
"""Section 4.3 as printed. Its threshold and its cap on rounds are not stated."""

EM = replace(PRINTED, sqrt_weights=False)
"""Section 4.3 without the root of w, so that each round is a step of EM."""
