"""Leading directions of debiased presence, each entry scaled to equal noise.

    B = D_u^-1/2 C D_i^-1/2

with degrees that include the noise of a slot (`PresenceMatrix.degrees`), or the plain ones without
noise. Directions are computed by block power iteration (Halko, Martinsson and Tropp, "Finding
structure with randomness", 2011): a product with C costs as much as the number of reports, and the
users x items cells are never materialized.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

from tacit.models.evidence.presence_matrix import PresenceMatrix

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
MORE, ROUNDS = 32, 6
"""Oversampled directions, and power iterations."""


@dataclass(frozen=True, eq=False)
class ScaledPresence:
    """B as an operator. `people`, `items`: D^-1/2 of each side, shapes (users,), (items,)."""

    presence: PresenceMatrix
    people: Doubles
    items: Doubles

    def over_items(self, x: Floats) -> Floats:
        """Return B x, shape (users, K)."""
        scaled, (reported, queried) = _scaled(x, self.items), self.presence.operands
        silent = scaled.sum(0)[None] if queried is None else queried @ scaled
        return _scaled(reported @ scaled, self._up) - _scaled(silent, self._down)

    def over_people(self, x: Floats) -> Floats:
        """Return B' x, shape (items, K)."""
        (reported, queried), down = self.presence.operands, _scaled(x, self._down)
        silent = down.sum(0)[None] if queried is None else queried.T @ down
        return _scaled(reported.T @ _scaled(x, self._up) - silent, self.items)

    @cached_property
    def _up(self) -> Doubles:
        return self.people * self.presence.gain

    @cached_property
    def _down(self) -> Doubles:
        return self._up * self.presence.unrated


def leading_items(
    scaled: ScaledPresence,
    count: int,
    *,
    rng: int = 0,
    advance: Callable[[float], None] = lambda done: None,
) -> tuple[Floats, Doubles]:
    """Return the leading right singular vectors of B, shape (items, K), and values (K,).

    K is `count`, or fewer if B has fewer rows or columns. `rng`: seed of the initial block.
    """
    m, n = scaled.presence.shape
    wide = min(count + MORE, m, n)
    block = np.random.default_rng(rng).standard_normal((n, wide), np.float32)
    for done in range(ROUNDS):
        block = _orthonormal(scaled.over_people(scaled.over_items(block)))
        advance((done + 1) / (ROUNDS + 1))
    block = _orthonormal(block)
    image = scaled.over_items(block)
    squares, turn = eigh((image.T @ image).astype(np.float64))
    order = np.argsort(-squares)[: min(count, wide)]
    return (block @ turn[:, order].astype(np.float32)), np.sqrt(np.maximum(squares[order], 0))


def _orthonormal(block: Floats) -> Floats:
    """Return a basis of the block's columns by Cholesky.

    A second pass corrects the loss of single precision. The transpose is copied first, because a
    product with a transposed view takes seven times as long.
    """
    gram = (np.ascontiguousarray(block.T) @ block).astype(np.float64)
    gram[np.diag_indices(len(gram))] *= 1 + 1e-6  # rank-deficient blocks have a basis too
    gram[np.diag_indices(len(gram))] += 1e-30
    root = cholesky(gram, lower=True, check_finite=False)
    inverse = solve_triangular(root, np.eye(len(root)), lower=True, check_finite=False)
    return block @ inverse.T.astype(np.float32)


def _scaled(x: Floats, factor: Doubles) -> Floats:
    return x * factor.astype(np.float32)[:, None]
