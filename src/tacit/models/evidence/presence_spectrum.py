"""Leading directions of the presence matrix, each as strong as it is without noise.

    B = D_u^-1/2 C D_i^-1/2,   entries' noise of size t.

A singular value y t sqrt(N) of B, N = max(m, n), b = min(m, n) / N, stands for a true one of
t sqrt(N) sqrt((y^2 - b - 1)^2 - 4 b) / y where y > 1 + sqrt(b), and for nothing below: the
shrinkage of least expected error (Gavish and Donoho, "Optimal shrinkage of singular values", 2017).

Where presence is public its entries are exact, and most directions of a sparse table are an
accident of who happened to rate what all the same. Those count that are stronger than the strongest
one after items were dealt out anew to everybody's ratings: parallel analysis (Horn, "A rationale
and test for the number of factors in factor analysis", 1965).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from tacit.kernels.predict import bilinear
from tacit.models.evidence.presence_matrix import PresenceMatrix

Doubles = NDArray[np.float64]
MOST_HIDDEN = 40  # directions looked for where presence is protected: noise hides the rest
NEAR, ROUGHLY = 1e-3, 1e-2
"""Residuals, as a share of a squared singular value, that settle a direction, and how strong chance
is; the value's own error is their square. At the edge of the noise, where directions are left out,
the last digits would cost thousands of products."""
FLOOR, CEILING = 0.1, 0.95  # least share of activity x popularity, and most probability, of a slot


@dataclass(frozen=True, eq=False)
class Spectrum:
    """`people`: U, shape (people, d). `values`: singular values of B, shape (d,). `items`: V,
    shape (items, d)."""

    people: Doubles
    values: Doubles
    items: Doubles

    def leading(self, directions: int) -> "Spectrum":
        """The first `directions` of them."""
        first = slice(directions)
        return Spectrum(self.people[:, first], self.values[first], self.items[:, first])

    def probabilities(
        self,
        matrix: PresenceMatrix,
        users: NDArray[np.int32],
        items: NDArray[np.int32],
        own: Doubles | None = None,
    ) -> Doubles:
        """P(rated) at cells, as if the cell's own report had not been seen, shape (n,).

        `own`: C at each of them; None where all are reported.

        The estimate D_u^1/2 U s' V' D_i^1/2 holds a share h_ui = a_u + b_i - a_u b_i of the cell's
        own entry, a_u = sum_k (s'_k / s_k) U_uk^2: it is taken out again, because the report
        itself is weighed later, through the channel's table. Low rank goes below zero where
        little is rated; a tenth of what activity times popularity says is kept.
        """
        strength = shrunk(self.values, matrix)
        own = matrix.entry[users] if own is None else own
        kept = strength / self.values
        roots = [np.sqrt(degree) for degree in matrix.degrees]
        left, right = self.people * strength * roots[0][:, None], self.items * roots[1][:, None]
        estimate = bilinear(users, items, 0.0, _without_bias(left), _without_bias(right))
        a, b = (self.people**2 @ kept)[users], (self.items**2 @ kept)[items]
        held = np.minimum(a + b - a * b, 0.9)
        plain = matrix.expected(users, items)
        estimate = plain + (estimate - held * (own - plain)) / (1 - held)
        return np.clip(np.maximum(estimate, FLOOR * plain), 1e-6, CEILING)


def spectrum(matrix: PresenceMatrix, directions: int) -> Spectrum:
    """The leading `directions` of B, strongest first; noise-like ones left out."""
    left, found, right = _leading(matrix, min(directions, min(matrix.shape) - 1), NEAR)
    order = np.argsort(-found)
    U, s, V = left[:, order], found[order], right[order].T
    real = shrunk(s, matrix) > 0 if matrix.protected else s > strongest_by_chance(matrix)
    # The solver leaves each direction's sign open; a public rule makes runs agree.
    mirror = np.sign(V.sum(0)) + (V.sum(0) == 0)
    return Spectrum((U * mirror)[:, real], s[real], (V * mirror)[:, real])


def shrunk(values: Doubles, matrix: PresenceMatrix) -> Doubles:
    """Singular values of B without the noise, shape (d,)."""
    wide, narrow = max(matrix.shape), min(matrix.shape)
    unit, b = matrix.noise * np.sqrt(wide), narrow / wide
    y = values / unit
    inside = np.sqrt(np.maximum((y * y - b - 1) ** 2 - 4 * b, 0)) / y
    return np.where(y > 1 + np.sqrt(b), inside * unit, 0.0)


def strongest_by_chance(matrix: PresenceMatrix) -> float:
    """The second singular value of B where as many ratings of as popular items fell on people as
    active by chance; the first is activity and popularity themselves."""
    dealt = matrix.reported.copy()
    dealt.indices = np.random.default_rng(0).permutation(dealt.indices)
    dealt.sum_duplicates()
    dealt.data[:] = 1  # an item that somebody was dealt twice
    values = _leading(replace(matrix, reported=dealt), 2, ROUGHLY)[1]
    return float(values.min())


def _leading(matrix: PresenceMatrix, rank: int, near: float) -> tuple[Doubles, Doubles, Doubles]:
    """The leading singular triplets (U, s, V') of B, in any order."""
    even = np.ones(min(matrix.shape)) / np.sqrt(min(matrix.shape))
    left, values, right = svds(matrix.normalized(), k=rank, v0=even, tol=near)
    return left, np.asarray(values, np.float64), right


def _without_bias(rows: Doubles) -> NDArray[np.float32]:
    return np.pad(rows, ((0, 0), (1, 0))).astype(np.float32)
