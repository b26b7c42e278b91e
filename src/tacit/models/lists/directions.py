"""Leading directions of debiased presence, each entry divided by the size of its noise.

    B = D_u^-1/2 C D_i^-1/2

with degrees that count a slot's noise as they count what is there (`PresenceMatrix.degrees`), or
the plain ones where there is no noise. Directions are found by block power iterations (Halko,
Martinsson and Tropp, "Finding structure with randomness", 2011): a product with C costs as much as
there are reports, and the people x items cells are never laid out.
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
"""Directions looked for beside those wanted, and power iterations."""


@dataclass(frozen=True, eq=False)
class ScaledPresence:
    """B as an operator. `people` and `items`: D^-1/2 of each side, shapes (people,), (items,)."""

    presence: PresenceMatrix
    people: Doubles
    items: Doubles

    def over_items(self, x: Floats) -> Floats:
        """B x, shape (people, K)."""
        scaled, (reported, asked) = _scaled(x, self.items), self.presence.operands
        silent = scaled.sum(0)[None] if asked is None else asked @ scaled
        return _scaled(reported @ scaled, self._up) - _scaled(silent, self._down)

    def over_people(self, x: Floats) -> Floats:
        """B' x, shape (items, K)."""
        (reported, asked), down = self.presence.operands, _scaled(x, self._down)
        silent = down.sum(0)[None] if asked is None else asked.T @ down
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
    """The first right singular vectors of B, shape (items, K), and its singular values (K,).

    K is `count`, or fewer where B has not so many rows or columns. `rng` draws the start.
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
    """A basis of the block's columns, by Cholesky's factor; a second time mends what singles lost.

    The transpose is laid out first, for a product of it as a view takes seven times as long.
    """
    gram = (np.ascontiguousarray(block.T) @ block).astype(np.float64)
    gram[np.diag_indices(len(gram))] *= 1 + 1e-6  # a rank less than its width has a basis too
    gram[np.diag_indices(len(gram))] += 1e-30
    root = cholesky(gram, lower=True, check_finite=False)
    inverse = solve_triangular(root, np.eye(len(root)), lower=True, check_finite=False)
    return block @ inverse.T.astype(np.float32)


def _scaled(x: Floats, factor: Doubles) -> Floats:
    return x * factor.astype(np.float32)[:, None]
