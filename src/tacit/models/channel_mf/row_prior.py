"""Hierarchical prior of one side's rows: a linear map of features, one precision per column.

    x_rk ~ N(f_r . w_k, 1 / precision_k)      w_jk ~ N(0, 1 / (order_j tightness_k))

precision and tightness are drawn from their gamma conditionals, so nothing is tuned. Features come
in decreasing order, and the j-th is expected to explain 1/j of what the first does. With equal
priors, forty uninformative directions would add the uncertainty of forty weights where reports are
few. A feature concentrated on few rows, as in a sparse table, is expected to explain less still:
its effective number of rows is (sum f^2)^2 / sum f^4, a third of all rows for a normal feature. Few
rows carry little information about a weight and are all that it affects.

Interweaving of the global level mu and the biases: mu + b held fixed, mu redrawn.

Given the biases, n reports determine mu so tightly that it hardly moves in a sweep. But the reports
only determine mu + b of a side; the split into mu and b is left to the priors

    mu ~ N(centre, 1 / precision),   b_r ~ N(prior_r, 1 / prior precision).

Redrawn given mu + b, the level converges within a few sweeps instead of a few hundred (the
interweaving of Yu and Meng 2011, with the exact conditional).

Expected presence features of unrated items, predicted from public item metadata.

Presence directions carry most of an item prior's information, and metadata features are weighted
conditionally on them: a weight is the effect of a genre *given* the popularity of its items. An
unrated item has no presence, so this weight alone would mislead. Its presence is predicted from
items with similar metadata by ridge regression over the rated items,

    W = (D' D + ridge)^-1 D' F,

where each column's ridge minimizes generalised cross-validation (Golub, Heath and Wahba 1979), ||F
- D W||^2 / (n - tr(D (D' D + ridge)^-1 D'))^2.

Joint move of a column of prior weights and its rows, with the rows' residuals held fixed.

Given the rows x_r = f_r . w + z_r, thousands of them determine w, however little the reports carry
about each. With weak reports w would change slowly for hundreds of sweeps. Given z instead, only
the reports determine w, and the rows move with it. Alternating both updates mixes as fast as the
better one (the interweaving of Yu and Meng 2011).

As for rows, one scoring step proposes, and the likelihood accepts or rejects (Metropolis-Hastings).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from tacit.kernels.gibbs_rows import GRAIN
from tacit.kernels.gibbs_scales import WeightSums
from tacit.models.evidence.item_features import Features

Doubles = NDArray[np.float64]

PRECISION_SHAPE = 2.0  # weak gamma priors: this many pairs of pseudo-rows
TIGHTNESS_SHAPE = 3.0
DEVIATION = 0.05  # prior deviation of a bias or factor, as a fraction of the range


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


def _normal(A: Doubles, b: Doubles, rng: np.random.Generator) -> Doubles:
    """Draw from N(A^-1 b, A^-1), shape (n, d), for A of shape (n, d, d) and b of shape (n, d)."""
    L = np.linalg.cholesky(A)
    half = np.linalg.solve(L, b[..., None]) + rng.standard_normal((*b.shape, 1))
    return np.asarray(np.linalg.solve(L.transpose(0, 2, 1), half)[..., 0], np.float64)


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


@dataclass(frozen=True)
class LevelPrior:
    """Normal prior of mu, on the rating scale."""

    centre: float
    precision: float

    def redrawn(self, mu: float, rows: RowSums, prior: Prior, rng: np.random.Generator) -> float:
        """Draw mu given mu + b and the sums of `rows`. The biases decrease by what mu gains."""
        level = rows.number * mu + rows.totals[0] - prior.total @ prior.weights[:, 0]
        weight = rows.number * prior.precision[0] + self.precision
        mean = (level * prior.precision[0] + self.centre * self.precision) / weight
        return float(mean + rng.standard_normal() / np.sqrt(weight))


RIDGES = 10.0 ** np.arange(6)
"""Unit: items. A feature's variance over items is about 1."""


def with_expected_presence(
    features: Doubles, observed: NDArray[np.bool_], described: Sequence[Features]
) -> Doubles:
    """Return presence features, shape (items, d), predicted where `observed` is False."""
    if observed.all() or not observed.any() or not described:
        return features
    table = np.hstack([each.values / np.sqrt(each.order) for each in described])
    weights = _weights(table[observed], features[observed])
    return np.where(observed[:, None], features, table @ weights)


def _weights(D: Doubles, F: Doubles) -> Doubles:
    squares, vectors = eigh(D.T @ D)
    squares = np.maximum(squares, 0)
    turned = vectors.T @ (D.T @ F)
    errors: list[Doubles] = []
    solutions: list[Doubles] = []
    for ridge in RIDGES:
        weights = vectors @ (turned / (squares + ridge)[:, None])
        left = len(D) - (squares / (squares + ridge)).sum()
        errors.append(((F - D @ weights) ** 2).sum(0) / left**2)
        solutions.append(weights)
    best = np.argmin(errors, axis=0)
    return np.stack(solutions)[best, :, np.arange(F.shape[1])].T
