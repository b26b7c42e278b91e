"""The learnt prior of one side's rows: a linear map of features, with a precision a column.

    x_rk ~ N(f_r . w_k, 1 / precision_k)      w_jk ~ N(0, 1 / (order_j tightness_k))

precision and tightness are drawn from their gamma conditionals, so nothing is tuned. Features come
in order of their strength, and the j-th is expected to explain 1/j of what the first does: alike,
forty directions that say nothing would cost forty weights' uncertainty where reports are few. Less
still where it lives on few rows, as directions of a sparse table do: (sum f^2)^2 / sum f^4 rows in
effect, of which a normal feature has a third of all. What few rows tell of a weight is little, and
they are all it is for.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]

PRECISION_SHAPE = 2.0  # gamma priors, weak: worth this many pairs of rows
TIGHTNESS_SHAPE = 3.0
DEVIATION = 0.05  # expected spread of a bias or factor, as a share of the scale's range


@dataclass(eq=False)
class Prior:
    """`features`: shape (rows, d), strongest first; `weights`: (d, W); `precision` and `tightness`:
    (W,)."""

    features: Doubles
    gram: Doubles
    order: Doubles
    weights: Doubles
    precision: Doubles
    tightness: Doubles
    unit: Doubles  # expected variance of each column, on the scale's own measure

    @classmethod
    def start(cls, width: int, features: Doubles, range_: float) -> Self:
        """The prior before any draw. Biases are measured in ratings, factor products too."""
        order = np.arange(1.0, features.shape[1] + 1) / _spread_over_rows(features)
        # A product of two factors is a rating, so each factor carries the root of the measure.
        unit = np.full(width, DEVIATION**2 * 16 * range_ / 4)
        unit[0] = (DEVIATION * range_) ** 2
        return cls(
            features,
            features.T @ features,
            order,
            np.zeros((len(order), width)),
            0.5 / unit,
            max((1 / order).sum(), 1.0) / unit,
            unit,
        )

    @property
    def mean(self) -> Floats:
        """The prior mean of every row, shape (rows, W)."""
        return self._expected().astype(np.float32)

    def redraw(self, rows: Floats, rng: np.random.Generator) -> None:
        """Draw weights, tightness and precision given the rows."""
        d = self.features.shape[1]
        X = rows.astype(np.float64)
        pull = np.einsum("nd,nk->dk", self.features, X)
        for k in range(X.shape[1] if d else 0):
            A = self.precision[k] * self.gram + self.tightness[k] * np.diag(self.order)
            self.weights[:, k] = _normal(A, self.precision[k] * pull[:, k], rng)
        if d:
            expected = TIGHTNESS_SHAPE * self.unit / (1 / self.order).sum()
            rate = expected + self.order @ self.weights**2 / 2
            self.tightness = rng.gamma(TIGHTNESS_SHAPE + d / 2, 1 / rate)
        residual = ((X - self._expected()) ** 2).sum(0)
        rate = PRECISION_SHAPE * self.unit + residual / 2
        self.precision = rng.gamma(PRECISION_SHAPE + len(X) / 2, 1 / rate)

    def _expected(self) -> Doubles:
        # Not `@`: a small product in BLAS leaves its threads spinning where the sweep wants them.
        return np.einsum("nd,dk->nk", self.features, self.weights)


def _spread_over_rows(features: Doubles) -> Doubles:
    """The share of rows on which each feature lives, 1 where it is normal or flatter."""
    rows = (features**2).sum(0) ** 2 / np.maximum((features**4).sum(0), 1e-30)
    return np.clip(3 * rows / len(features), 1e-3, 1)


def _normal(A: Doubles, b: Doubles, rng: np.random.Generator) -> Doubles:
    """A draw of N(A^-1 b, A^-1)."""
    L = cholesky(A, lower=True)
    half = solve_triangular(L, b, lower=True) + rng.standard_normal(len(b))
    return np.asarray(solve_triangular(L.T, half), np.float64)
