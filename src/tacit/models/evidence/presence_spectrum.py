"""Leading directions of the presence matrix, with singular values corrected for noise.

    B = D_u^-1/2 C D_i^-1/2,   noise of entries t.

A singular value y t sqrt(N) of B, N = max(m, n), b = min(m, n) / N, corresponds to a true one of t
sqrt(N) sqrt((y^2 - b - 1)^2 - 4 b) / y where y > 1 + sqrt(b), and to none below: the shrinkage of
least expected error (Gavish and Donoho, "Optimal shrinkage of singular values", 2017).

Where presence is public its entries are exact, but most directions of a sparse table are sampling
accidents. Directions are retained if they exceed the strongest one after items are permuted among
all ratings: parallel analysis (Horn, "A rationale and test for the number of factors in factor
analysis", 1965).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from tacit.kernels.predict import bilinear
from tacit.models.evidence.presence_matrix import PresenceMatrix

Doubles = NDArray[np.float64]
MOST_HIDDEN = 40  # most directions where presence is protected: noise hides the rest
NEAR, ROUGHLY = 1e-3, 1e-2
"""Tolerances of directions and of the permuted spectrum: residuals as a fraction of a squared
singular value, whose own error is their square. Near the noise level, where directions are dropped,
the last digits would cost thousands of products."""
LEAST, CEILING = 0.1, 0.95  # least multiple of activity x popularity, greatest probability


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular triplets. `people`: U, shape (users, d). `values`: (d,). `items`: V, (items, d)."""

    people: Doubles
    values: Doubles
    items: Doubles

    def leading(self, directions: int) -> "Spectrum":
        """Return the first `directions` of them."""
        first = slice(directions)
        return Spectrum(self.people[:, first], self.values[first], self.items[:, first])

    def probabilities(
        self,
        matrix: PresenceMatrix,
        users: NDArray[np.int32],
        items: NDArray[np.int32],
        entries: Doubles | None = None,
    ) -> Doubles:
        """Return P(rated) at cells, excluding each cell's own report, shape (n,).

        `entries`: C at each of them; None where all are reported.

        The estimate D_u^1/2 U s' V' D_i^1/2 contains a fraction h_ui = a_u + b_i - a_u b_i of the
        cell's own entry, a_u = sum_k (s'_k / s_k) U_uk^2. It is removed, because the report itself
        is weighed later, through the channel's table. Low rank becomes negative where little is
        rated; the result is at least a tenth of activity times popularity.
        """
        denoised = shrunk(self.values, matrix)
        entries = matrix.entry[users] * matrix.lift[items] if entries is None else entries
        ratio = denoised / self.values
        roots = [np.sqrt(degree) for degree in matrix.degrees]
        left, right = self.people * denoised * roots[0][:, None], self.items * roots[1][:, None]
        estimate = bilinear(users, items, 0.0, _without_bias(left), _without_bias(right))
        a, b = (self.people**2 @ ratio)[users], (self.items**2 @ ratio)[items]
        held = np.minimum(a + b - a * b, 0.9)
        plain = matrix.expected(users, items)
        estimate = plain + (estimate - held * (entries - plain)) / (1 - held)
        return np.clip(np.maximum(estimate, LEAST * plain), 1e-6, CEILING)


def spectrum(matrix: PresenceMatrix, directions: int) -> Spectrum:
    """Return the leading `directions` of B in decreasing order, without noise directions."""
    left, values, right = _leading(matrix, min(directions, min(matrix.shape) - 1), NEAR)
    order = np.argsort(-values)
    U, s, V = left[:, order], values[order], right[order].T
    real = shrunk(s, matrix) > 0 if matrix.protected else s > permuted_value(matrix)
    # The solver leaves each direction's sign open; a fixed rule makes runs reproducible.
    mirror = np.sign(V.sum(0)) + (V.sum(0) == 0)
    return Spectrum((U * mirror)[:, real], s[real], (V * mirror)[:, real])


def shrunk(values: Doubles, matrix: PresenceMatrix) -> Doubles:
    """Return singular values of B without the noise, shape (d,)."""
    wide, narrow = max(matrix.shape), min(matrix.shape)
    unit, b = matrix.noise * np.sqrt(wide), narrow / wide
    y = values / unit
    inside = np.sqrt(np.maximum((y * y - b - 1) ** 2 - 4 * b, 0)) / y
    return np.where(y > 1 + np.sqrt(b), inside * unit, 0.0)


def permuted_value(matrix: PresenceMatrix) -> float:
    """Return the second singular value of B after a random permutation of items among ratings.

    It keeps the activity of users and the popularity of items, which are the first singular vector.
    """
    dealt = matrix.reported.copy()
    dealt.indices = np.random.default_rng(0).permutation(dealt.indices)
    dealt.sum_duplicates()
    dealt.data[:] = 1  # duplicates of an item within a user
    values = _leading(replace(matrix, reported=dealt), 2, ROUGHLY)[1]
    return float(values.min(initial=np.inf))


def _leading(matrix: PresenceMatrix, rank: int, near: float) -> tuple[Doubles, Doubles, Doubles]:
    """Return the leading singular triplets (U, s, V') of B, in any order, none where B is 0."""
    users, items = matrix.shape
    if matrix.reported.nnz == 0 or min(users, items) < 2:
        return np.empty((users, 0)), np.empty(0), np.empty((0, items))
    operator, even = matrix.normalized(), np.full(min(users, items), min(users, items) ** -0.5)
    if rank < min(users, items):
        left, values, right = svds(operator, k=rank, v0=even, tol=near)
    else:  # the iterative solver does not compute all of them
        table = operator @ np.eye(items) if items <= users else (operator.H @ np.eye(users)).T
        left, values, right = np.linalg.svd(table, full_matrices=False)
    return left, np.asarray(values, np.float64), right


def _without_bias(rows: Doubles) -> NDArray[np.float32]:
    return np.pad(rows, ((0, 0), (1, 0))).astype(np.float32)
