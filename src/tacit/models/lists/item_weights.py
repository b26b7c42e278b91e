"""Item weights: the contribution of each item of a user to the scores of all others.

    s_j = popularity_j + sum_i x_i W_ij,    W = diag(left) V diag(spectrum) V' diag(right) + S

x is a user's row, 1 at their items. V has K columns, and S is dense, sparse or absent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.kernels.layout import add_product, row_sums
from tacit.kernels.ranking.linked_lists import LinkedScores

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Directions:
    """Low-rank part of W. `vectors`: V, (items, K). `spectrum`: (K,). `left`, `right`: (items,)."""

    vectors: Floats
    spectrum: Floats
    left: Floats
    right: Floats

    def add(self, rows: csr_array, scores: Floats) -> None:
        """Add the low-rank part to the scores of these rows."""
        taste = np.asarray(rows @ self._of_rated, np.float32) * self.spectrum
        scores += taste @ self.of_items.T

    def tastes(self, owned: csr_array) -> Floats:
        """Return user factors to multiply `of_items` by, shape (users, K).

        `owned`: items per user.
        """
        return (
            row_sums(owned.indptr.astype(np.int64), owned.indices, self._of_rated) * self.spectrum
        )

    @cached_property
    def diagonal(self) -> Floats:
        """W_ii, shape (items,)."""
        return np.asarray((self.left_factors * self.of_items).sum(1), np.float32)

    @property
    def left_factors(self) -> Floats:
        """diag(left) V diag(spectrum), shape (items, K)."""
        return self._of_rated * self.spectrum

    @cached_property
    def of_items(self) -> Floats:
        """diag(right) V, shape (items, K)."""
        return self.vectors * self.right[:, None]

    @cached_property
    def _of_rated(self) -> Floats:
        return self.vectors * self.left[:, None]


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemWeights:
    """Item-item weights of a top-N model.

    `popularity`: shape (items,), float32. `directions`: low-rank part, None for none. `between`: S,
    shape (items, items), float32, dense or sparse; None for none.
    """

    popularity: Floats
    directions: Directions | None = None
    between: csr_array | Floats | None = None

    def scores(self, rows: csr_array) -> Floats:
        """Return the scores of all items for each row, shape (rows, items)."""
        scores = np.zeros(rows.shape, np.float32)
        if self.directions is not None:
            self.directions.add(rows, scores)
        if isinstance(self.between, csr_array):
            add_product(rows, self.between, scores)
        elif self.between is not None:
            scores += rows.toarray() @ self.between
        scores += self.popularity
        return scores

    def rows(self, items: Sequence[int]) -> Floats:
        """Return rows of W: what each of `items` adds to all scores, shape (m, items).

        Raises `RequestError` for weights of popularity alone.
        """
        if self.directions is None and self.between is None:
            raise RequestError(
                "The model ranks by popularity alone, so no items are related; fit a model with "
                "weights between items, such as ease."
            )
        shape = len(items), len(self.popularity)
        ones = np.ones(len(items), np.float32), np.asarray(items), np.arange(len(items) + 1)
        return self.scores(csr_array(ones, shape)) - self.popularity

    def products(self, x: Floats) -> Floats:
        """Return W x for x of shape (items,) or (items, d)."""
        total = np.zeros(x.shape, np.float32)
        if self.directions is not None:
            total += self.directions.left_factors @ (self.directions.of_items.T @ x)
        return total if self.between is None else np.asarray(total + self.between @ x, np.float32)

    def transposed_products(self, x: Floats) -> Floats:
        """Return W' x for x of shape (items,) or (items, d)."""
        total = np.zeros(x.shape, np.float32)
        if self.directions is not None:
            total += self.directions.of_items @ (self.directions.left_factors.T @ x)
        return total if self.between is None else np.asarray(total + self.between.T @ x, np.float32)

    def links(self, owned: csr_array) -> LinkedScores | None:
        """Return the inputs of one-pass ranking for users with the items `owned`.

        `owned`: 1 at each cell, shape (users, items). Returns None if S is not sparse.
        """
        if not isinstance(self.between, csr_array):
            return None
        m, n = owned.shape
        tastes, items = np.zeros((m, 0), np.float32), np.zeros((n, 0), np.float32)
        if self.directions is not None:
            tastes, items = self.directions.tastes(owned), self.directions.of_items
        return LinkedScores(self.popularity, tastes, items, self.between)
