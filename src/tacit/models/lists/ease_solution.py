"""Solutions of EASE at any ridge, and their loss on held-out users.

    B = I - P diag(P)^-1,    P = (G + ridge I)^-1,    L = |X - X B|^2 = tr((I - B)' X'X (I - B))

Without noise, P is one inverse, and the loss a product with the sparse rows of held-out users. A
search uses single precision for both. With noise, G is replaced by F F' of d columns above its
noise. By Woodbury's identity

    P = (I - F S F' / ridge) / ridge,    S = (I + F'F / ridge)^-1,

B is of low rank but for its diagonal, which no list uses, and the loss requires X'X F alone, of
which the debiased G of held-out users is an estimate.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, inv, qr
from scipy.linalg.lapack import dpotri, spotri
from scipy.sparse import csr_array

from tacit.kernels.layout import row_sums
from tacit.models.lists.co_occurrence import CoOccurrence
from tacit.models.lists.item_weights import Directions
from tacit.models.lists.shrinkage import WeightFactors
from tacit.wire.model_header import MOST_FACTORS

Array = NDArray[np.float32] | NDArray[np.float64]
Doubles = NDArray[np.float64]
START, STEPS = 6, 20
"""Candidate ridges: 2^(k / 2) mean item counts, k from 6 in either direction, at most 20 from 0."""
RETAINED = 0.99
"""Fraction of the best gain that the chosen ridge, or weight of features, retains at least."""
BLOCK_BYTES = 64 << 20
"""Bytes of held-out users' residuals at a time."""


def exact_weights(gram: Array, ridge: float) -> NDArray[np.float32]:
    """Return B without noise, shape (items, items), in the precision of `gram`."""
    inverse = _inverse(gram, ridge)
    weights = (inverse / -np.diag(inverse)).astype(np.float32)
    np.fill_diagonal(weights, 0)
    return weights


def exact_loss(gram: Array, ridge: float, held_out: csr_array) -> float:
    """Return L of users with 1 at each of their items, in the precision of `gram`."""
    inverse = _inverse(gram, ridge)
    start = held_out.indptr.astype(np.int64)
    size = max(1, BLOCK_BYTES // inverse[:1].nbytes)
    total = np.zeros(len(inverse))
    for first in range(0, len(start) - 1, size):
        rows = row_sums(start[first : first + size + 1], held_out.indices, inverse)
        total += np.square(rows, dtype=np.float64).sum(0)
    return float((total / np.diag(inverse).astype(np.float64) ** 2).sum())


def _inverse(gram: Array, ridge: float) -> Array:
    """Return P by Cholesky."""
    root = gram.copy()
    root[np.diag_indices(len(root))] += np.asarray(ridge, root.dtype)
    root = cholesky(root, lower=True, overwrite_a=True, check_finite=False)
    invert = spotri if root.dtype == np.float32 else dpotri
    inverse = np.tril(invert(root, lower=True, overwrite_c=True)[0])
    inverse += np.tril(inverse, -1).T
    return np.ascontiguousarray(inverse)


@dataclass(frozen=True, eq=False)
class LowRankSolution:
    """B for G = F F' and a ridge r_i per item, without its diagonal:

        B_ij = f_i S f_j / (r_i t_j),    S = (I + F' R^-1 F)^-1,    t_j = 1 - f_j S f_j / r_j

    `factors`: F, shape (items, d). `inner`: S. `item_scale`: 1 / r. `score_scale`: 1 / t.
    """

    factors: Doubles
    inner: Doubles
    item_scale: Doubles
    score_scale: Doubles

    @classmethod
    def of(cls, factors: Doubles, ridge: float | Doubles) -> "LowRankSolution":
        """Solve for factors and a ridge, one for all items or one per item."""
        item_scale = 1 / np.broadcast_to(ridge, len(factors))
        scaled = factors * item_scale[:, None]
        inner = inv(np.eye(factors.shape[1]) + factors.T @ scaled, check_finite=False)
        rest = 1 - ((scaled @ inner) * factors).sum(1)
        return cls(factors, inner, item_scale, 1 / rest)

    @property
    def weights(self) -> WeightFactors:
        """B as two factors."""
        left = (self.factors * self.item_scale[:, None]) @ self.inner
        return WeightFactors(left, self.factors * self.score_scale[:, None])

    def directions(self, multiple: float = 1.0) -> Directions:
        """B as orthonormal directions, at most 1,024: F S F' = V diag(spectrum) V'."""
        root = self.factors @ cholesky(self.inner, lower=True, check_finite=False)
        values, turn = eigh(root.T @ root)
        clear = values > values[-1] * np.finfo(np.float32).eps
        clear[:-MOST_FACTORS] = False
        vectors = (root @ turn[:, clear]) / np.sqrt(values[clear])
        return Directions(
            vectors=vectors.astype(np.float32),
            spectrum=(values[clear] * self.item_scale.mean() * multiple).astype(np.float32),
            left=(self.item_scale / self.item_scale.mean()).astype(np.float32),
            right=self.score_scale.astype(np.float32),
        )


@dataclass(frozen=True, eq=False)
class ReportRegression:
    """Scores of debiased reports c by least squares, within the span Q of some factors:

        s = m + (c - m) W,    W = Q A Q' without its diagonal,    A M + M A = 2 S

    S is Q' G Q of true rows around their mean m, without noise, and M that of the reports
    themselves, noise included. Both of the same G: its eigenvalues exceed the true ones, also along
    Q, where M must be as large. A is the best symmetric matrix for |x - s|^2.

    `vectors`: of W, orthonormal, shape (items, K). `spectrum`: shape (K,), of any sign.
    """

    vectors: Doubles
    spectrum: Doubles

    @classmethod
    def of(cls, factors: Doubles, moments: CoOccurrence, prior: Doubles) -> "ReportRegression":
        """Solve for factors F of G without noise, (items, d), and `prior` ones, (items, e)."""
        Q = qr(np.hstack([factors, prior]), mode="economic", check_finite=False)[0]
        mean = Q.T @ (moments.counts / moments.people)
        between_users = moments.people * np.outer(mean, mean)
        signal, expected = Q.T @ factors, Q.T @ prior
        added = expected @ expected.T - between_users
        values, turn = eigh(signal @ signal.T + added)
        true = (turn * np.maximum(values, 0)) @ turn.T
        noisy = Q.T @ moments.gram @ Q + added
        sizes, axes = eigh(noisy + moments.variance * np.eye(len(noisy)))
        sizes = np.maximum(sizes, moments.variance)
        inner = axes.T @ true @ axes / ((sizes[:, None] + sizes) / 2)
        spectrum, turn = eigh(inner)
        return cls(Q @ (axes @ turn), spectrum)

    @property
    def weights(self) -> WeightFactors:
        """W as two factors."""
        return WeightFactors(self.vectors * self.spectrum, self.vectors)

    def offset(self, mean: Doubles) -> Doubles:
        """Return m - m W, shape (items,)."""
        weights = self.weights
        return mean - weights.left @ (weights.right.T @ mean) + weights.diagonal * mean

    def directions(self) -> Directions:
        """W as directions, at most 1,024: those of the largest weights."""
        largest = np.sort(np.argsort(-np.abs(self.spectrum), kind="stable")[:MOST_FACTORS])
        ones = np.ones(len(self.vectors), np.float32)
        return Directions(
            vectors=self.vectors[:, largest].astype(np.float32),
            spectrum=self.spectrum[largest].astype(np.float32),
            left=ones,
            right=ones,
        )


@dataclass(frozen=True, eq=False)
class HeldOutLoss:
    """L of held-out users at any ridge, for G = F F'.

    `factors`: F, shape (items, d). `inner`: F'F. `image`: H F, H the held-out users' debiased G.
    `middle`: F'H F. `counts`: diagonal of H, shape (items,).
    """

    factors: Doubles
    inner: Doubles
    image: Doubles
    middle: Doubles
    counts: Doubles

    @classmethod
    def of(cls, factors: Doubles, held_out: Doubles) -> "HeldOutLoss":
        """Compute the products with H, `held_out`."""
        image = held_out @ factors
        inner, middle = factors.T @ factors, factors.T @ image
        return cls(factors, inner, image, middle, np.diag(held_out))

    def at(self, ridge: float) -> float:
        """Return L."""
        small = inv(self.inner + ridge * np.eye(len(self.inner)), check_finite=False)
        left = self.factors @ small
        rest = 1 - (left * self.factors).sum(1)
        squares = self.counts + ((left @ self.middle - 2 * self.image) * left).sum(1)
        return float((squares / rest**2).sum())


def ridge_at(moments: CoOccurrence, step: int) -> float:
    """Return 2^(step / 2) mean item counts."""
    return max(float(moments.counts.mean()), 1.0) * 2.0 ** (step / 2)


def smallest_step(loss: Callable[[int], float], without: float) -> tuple[float, int]:
    """Return the least loss over all candidate ridges, and the chosen one.

    `without`: loss of B = 0. Squared error weighs popular items more than a top-N list does, and
    favours a larger ridge: the smallest is chosen that retains 99 % of the best one's gain.
    """
    step = _lowest(loss)
    least = loss(step)
    bound = retained(least, without)
    while step > -STEPS and loss(step - 1) <= bound:
        step -= 1
    return least, step


def retained(least: float, without: float) -> float:
    """Return the largest loss that retains 99 % of the gain of the least one over B = 0.

    If every loss exceeds that of B = 0, `without`, nothing is gained, and it is the least one.
    """
    return least + (1 - RETAINED) * max(without - least, 0.0)


def _lowest(loss: Callable[[int], float]) -> int:
    """Return a local minimum of the loss, at most `STEPS` from 0."""
    step, way = START, 1 if loss(START + 1) < loss(START) else -1
    while abs(step + way) <= STEPS and loss(step + way) < loss(step):
        step += way
    return step
