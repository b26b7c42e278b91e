"""Joint move of a column of prior weights and its rows, with the rows' residuals held fixed.

Given the rows x_r = f_r . w + z_r, thousands of them determine w, however little the reports carry
about each. With weak reports w would change slowly for hundreds of sweeps. Given z instead, only
the reports determine w, and the rows move with it. Alternating both updates mixes as fast as the
better one (the interweaving of Yu and Meng 2011).

As for rows, one scoring step proposes, and the likelihood accepts or rejects (Metropolis-Hastings).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from tacit.kernels.chain.scoring import GRAIN
from tacit.kernels.chain.weights import WeightSums
from tacit.models.channel_mf.row_prior import Prior

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightMove:
    """A proposed move of one column of prior weights.

    `move`: of the column's weights, shape (d,), single precision. `factor`: Cholesky factor of the
    proposal precision. `forth`: step plus noise in units of `factor`. `noise`: the noise alone.
    """

    column: int
    move: Doubles
    factor: Doubles
    forth: Doubles
    noise: Doubles

    @classmethod
    def proposed(
        cls, prior: Prior, column: int, here: WeightSums, rng: np.random.Generator
    ) -> "WeightMove":
        """Propose a scoring step from the current weights."""
        lower = here.information / GRAIN
        information = lower + np.tril(lower, -1).T + np.diag(_precision(prior, column))
        factor = np.asarray(np.linalg.cholesky(information), np.float64)
        pull = here.score / GRAIN - _precision(prior, column) * prior.weights[:, column]
        noise = rng.standard_normal(len(pull))
        forth = solve_triangular(factor, pull, lower=True) + noise
        move = solve_triangular(factor, forth, lower=True, trans="T")
        # Rows and weights move by the same single-precision amount.
        return cls(column, move.astype(np.float32).astype(np.float64), factor, forth, noise)

    def gain(self, prior: Prior, here: WeightSums, there: WeightSums) -> float:
        """Return the log Metropolis-Hastings ratio of the move."""
        precision, before = _precision(prior, self.column), prior.weights[:, self.column]
        after = before + self.move
        pull = there.score / GRAIN - precision * after
        back = self.forth + solve_triangular(self.factor, pull, lower=True)
        likelihood = float(there.likelihood[0] - here.likelihood[0]) / GRAIN
        expected = precision @ (before**2 - after**2) / 2
        return float(likelihood + expected + (self.noise @ self.noise - back @ back) / 2)


def _precision(prior: Prior, column: int) -> Doubles:
    """Return the prior precision of the weights, shape (d,)."""
    return prior.tightness[prior.origin, column] * prior.order
