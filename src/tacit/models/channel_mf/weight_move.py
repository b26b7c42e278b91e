"""A column of a prior's weights drawn with what rows have of their own held fixed.

Given the rows x_r = f_r . w + z_r, thousands of them hold w, however little the reports say of
each: where they say little, w would creep for hundreds of sweeps. Given z in their place, it is the
reports alone that hold w, and rows go with it. Draws of both kinds in turn go as far as either may
(the interweaving of Yu and Meng 2011).

As for rows, one step of scoring proposes, and the likelihood decides (Metropolis and Hastings).
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
    """A proposal. `move`: of the column's weights, shape (d,), single precision. `forth`: of the
    step and its noise in units of the `factor` of its precision, `noise` alone."""

    column: int
    move: Doubles
    factor: Doubles
    forth: Doubles
    noise: Doubles

    @classmethod
    def proposed(
        cls, prior: Prior, column: int, here: WeightSums, rng: np.random.Generator
    ) -> "WeightMove":
        """From what reports say of weights where they are."""
        lower = here.information / GRAIN
        information = lower + np.tril(lower, -1).T + np.diag(_precision(prior, column))
        factor = np.asarray(np.linalg.cholesky(information), np.float64)
        pull = here.score / GRAIN - _precision(prior, column) * prior.weights[:, column]
        noise = rng.standard_normal(len(pull))
        forth = solve_triangular(factor, pull, lower=True) + noise
        move = solve_triangular(factor, forth, lower=True, trans="T")
        # Rows move by what is added to them in single precision, and weights by the same.
        return cls(column, move.astype(np.float32).astype(np.float64), factor, forth, noise)

    def gain(self, prior: Prior, here: WeightSums, there: WeightSums) -> float:
        """By how much more likely it is there and back than here and forth, a logarithm."""
        precision, before = _precision(prior, self.column), prior.weights[:, self.column]
        after = before + self.move
        pull = there.score / GRAIN - precision * after
        back = self.forth + solve_triangular(self.factor, pull, lower=True)
        told = float(there.likelihood[0] - here.likelihood[0]) / GRAIN
        expected = precision @ (before**2 - after**2) / 2
        return float(told + expected + (self.noise @ self.noise - back @ back) / 2)


def _precision(prior: Prior, column: int) -> Doubles:
    """Of the weights' own prior, shape (d,)."""
    return prior.tightness[prior.origin, column] * prior.order
