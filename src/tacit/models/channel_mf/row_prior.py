"""Hierarchical prior of one side's rows: a linear map of features, one precision per column.

    x_rk ~ N(f_r . w_k, 1 / precision_k)      w_jk ~ N(0, 1 / (order_j tightness_k))

precision and tightness are drawn from their gamma conditionals, so nothing is tuned. Features come
in decreasing order, and the j-th is expected to explain 1/j of what the first does. With equal
priors, forty uninformative directions would add the uncertainty of forty weights where reports are
few. A feature concentrated on few rows, as in a sparse table, is expected to explain less still:
its effective number of rows is (sum f^2)^2 / sum f^4, a third of all rows for a normal feature. Few
rows carry little information about a weight and are all that it affects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

PRECISION_SHAPE = 2.0  # weak gamma priors: this many pairs of pseudo-rows
TIGHTNESS_SHAPE = 3.0
DEVIATION = 0.05  # prior deviation of a bias or factor, as a fraction of the range


@dataclass(frozen=True, eq=False)
class Features:
    """Features of one group. `values`: shape (rows, d).

    `order`: shape (d,), expected explained variance of the first feature over that of each.
    `share`: variance they are expected to explain together, relative to the rows' residual.
    """

    values: Doubles
    order: Doubles
    share: float = 1.0

    @classmethod
    def by_rank(cls, values: Doubles) -> Self:
        """Return features in decreasing order, the j-th explaining 1/j, less on few rows."""
        return cls(values, np.arange(1.0, values.shape[1] + 1) / _spread_over_rows(values))


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sufficient statistics of a side's rows.

    `number`: rows. `pulls`: features times rows, shape (d, W). `totals`, `squares`: of the rows,
    shape (W,).
    """

    number: int
    pulls: Doubles
    totals: Doubles
    squares: Doubles


@dataclass(eq=False)
class Prior:
    """State of the hierarchical prior.

    `gram`: of features over rows, shape (d, d). `total`: their sums, (d,). `order`: (d,). `origin`:
    group of each feature, (d,). `share`: (groups,). `weights`: (d, W). `precision`: (W,).
    `tightness`: (groups, W).
    """

    gram: Doubles
    total: Doubles
    order: Doubles
    origin: NDArray[np.intp]
    share: Doubles
    weights: Doubles
    precision: Doubles
    tightness: Doubles
    unit: Doubles  # expected variance of each column, in units of the scale

    @classmethod
    def start(cls, width: int, groups: Sequence[Features], range_: float) -> Self:
        """Return the prior before any draw. Biases and factor products have the unit of ratings."""
        order = np.concatenate([np.zeros(0), *(each.order for each in groups)])
        values = side_by_side(groups, 0)
        # A product of two factors is a rating, so each factor has the root of its unit.
        unit = np.full(width, DEVIATION**2 * 16 * range_ / 4)
        unit[0] = (DEVIATION * range_) ** 2
        return cls(
            values.T @ values,
            values.sum(0),
            order,
            np.repeat(np.arange(len(groups)), [len(each.order) for each in groups]),
            np.array([each.share for each in groups]),
            np.zeros((len(order), width)),
            0.5 / unit,
            np.array([max((1 / each.order).sum(), 1.0) / each.share / unit for each in groups]),
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
        """Return sums of (x - f . w)^2, multiplied out, shape (W,)."""
        w = self.weights
        explained = (w * (2 * rows.pulls - self.gram @ w)).sum(0)
        return np.maximum(rows.squares - explained, 0.0)


def side_by_side(groups: Sequence[Features], rows: int) -> Doubles:
    """Concatenate the values of all groups, shape (rows, d)."""
    return np.hstack([each.values for each in groups]) if groups else np.zeros((rows, 0))


def _spread_over_rows(features: Doubles) -> Doubles:
    """Return the effective fraction of rows of each feature, 1 where it is normal or flatter."""
    rows = (features**2).sum(0) ** 2 / np.maximum((features**4).sum(0), 1e-30)
    return np.clip(3 * rows / len(features), 1e-3, 1)


def _normal(A: Doubles, b: Doubles, rng: np.random.Generator) -> Doubles:
    """Draw from N(A^-1 b, A^-1), shape (n, d), for A of shape (n, d, d) and b of shape (n, d)."""
    L = np.linalg.cholesky(A)
    half = np.linalg.solve(L, b[..., None]) + rng.standard_normal((*b.shape, 1))
    return np.asarray(np.linalg.solve(L.transpose(0, 2, 1), half)[..., 0], np.float64)
