"""The learnt prior of one side's rows: a linear map of features, with a precision a column.

    x_rk ~ N(f_r . w_k, 1 / precision_k)      w_jk ~ N(0, 1 / (order_j tightness_k))

precision and tightness are drawn from their gamma conditionals, so nothing is tuned. Features come
in order of their strength, and the j-th is expected to explain 1/j of what the first does: alike,
forty directions that say nothing would cost forty weights' uncertainty where reports are few. Less
still where it lives on few rows, as directions of a sparse table do: (sum f^2)^2 / sum f^4 rows in
effect, of which a normal feature has a third of all. What few rows tell of a weight is little, and
they are all it is for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

PRECISION_SHAPE = 2.0  # gamma priors, weak: worth this many pairs of rows
TIGHTNESS_SHAPE = 3.0
DEVIATION = 0.05  # expected spread of a bias or factor, as a share of the scale's range


@dataclass(frozen=True, eq=False)
class Features:
    """Features of one origin. `values`: shape (rows, d). `order`: shape (d,), by how much less each
    is expected to explain than the first. `share`: how much they are expected to explain together,
    beside what the rows have of their own."""

    values: Doubles
    order: Doubles
    share: float = 1.0

    @classmethod
    def by_rank(cls, values: Doubles) -> Self:
        """Features that come strongest first, of which the j-th explains 1/j, less on few rows."""
        return cls(values, np.arange(1.0, values.shape[1] + 1) / _spread_over_rows(values))


@dataclass(frozen=True, eq=False)
class RowSums:
    """What a side's rows are, in sums: their number, `pulls` of features times rows, shape (d, W),
    `totals` and `squares` of the rows, shape (W,)."""

    number: int
    pulls: Doubles
    totals: Doubles
    squares: Doubles


@dataclass(eq=False)
class Prior:
    """`gram`: of features over rows, shape (d, d), `total`: their sums, (d,); `order`: (d,);
    `origin`: of each, (d,); `share`: (origins,); `weights`: (d, W); `precision`: (W,);
    `tightness`: (origins, W)."""

    gram: Doubles
    total: Doubles
    order: Doubles
    origin: NDArray[np.intp]
    share: Doubles
    weights: Doubles
    precision: Doubles
    tightness: Doubles
    unit: Doubles  # expected variance of each column, on the scale's own measure

    @classmethod
    def start(cls, width: int, given: Sequence[Features], range_: float) -> Self:
        """The prior before any draw. Biases are measured in ratings, factor products too."""
        order = np.concatenate([np.zeros(0), *(each.order for each in given)])
        values = side_by_side(given, 0)
        # A product of two factors is a rating, so each factor carries the root of the measure.
        unit = np.full(width, DEVIATION**2 * 16 * range_ / 4)
        unit[0] = (DEVIATION * range_) ** 2
        return cls(
            values.T @ values,
            values.sum(0),
            order,
            np.repeat(np.arange(len(given)), [len(each.order) for each in given]),
            np.array([each.share for each in given]),
            np.zeros((len(order), width)),
            0.5 / unit,
            np.array([max((1 / each.order).sum(), 1.0) / each.share / unit for each in given]),
            unit,
        )

    def redraw(self, rows: RowSums, rng: np.random.Generator) -> None:
        """Draw weights, tightness and precision given the rows."""
        if len(self.order):
            A = self.precision[:, None, None] * self.gram
            each = np.arange(len(self.order))
            A[:, each, each] += (self.tightness[self.origin] * self.order[:, None]).T
            self.weights = _normal(A, (self.precision * rows.pulls).T, rng).T
        for origin in range(len(self.tightness)):
            mine = self.origin == origin
            order, weights = self.order[mine], self.weights[mine]
            expected = TIGHTNESS_SHAPE * self.share[origin] * self.unit / (1 / order).sum()
            rate = expected + order @ weights**2 / 2
            self.tightness[origin] = rng.gamma(TIGHTNESS_SHAPE + len(order) / 2, 1 / rate)
        rate = PRECISION_SHAPE * self.unit + self._residual(rows) / 2
        self.precision = rng.gamma(PRECISION_SHAPE + rows.number / 2, 1 / rate)

    def _residual(self, rows: RowSums) -> Doubles:
        """Sums of (x - f . w)^2, multiplied out, shape (W,)."""
        w = self.weights
        explained = (w * (2 * rows.pulls - self.gram @ w)).sum(0)
        return np.maximum(rows.squares - explained, 0.0)


def side_by_side(given: Sequence[Features], rows: int) -> Doubles:
    """The values of all origins beside one another, shape (rows, d)."""
    return np.hstack([each.values for each in given]) if given else np.zeros((rows, 0))


def _spread_over_rows(features: Doubles) -> Doubles:
    """The share of rows on which each feature lives, 1 where it is normal or flatter."""
    rows = (features**2).sum(0) ** 2 / np.maximum((features**4).sum(0), 1e-30)
    return np.clip(3 * rows / len(features), 1e-3, 1)


def _normal(A: Doubles, b: Doubles, rng: np.random.Generator) -> Doubles:
    """Draws of N(A^-1 b, A^-1), shape (n, d), of A of shape (n, d, d) and b of shape (n, d)."""
    L = np.linalg.cholesky(A)
    half = np.linalg.solve(L, b[..., None]) + rng.standard_normal((*b.shape, 1))
    return np.asarray(np.linalg.solve(L.transpose(0, 2, 1), half)[..., 0], np.float64)
