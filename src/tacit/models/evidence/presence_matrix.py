"""The debiased presence matrix, its products on an engine, and its spectrum above the noise."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, svds

from tacit.engines.engine import Engine
from tacit.engines.local import Local
from tacit.engines.side_rows import SideRows, of_matrix
from tacit.engines.tables import InMemory, Tables
from tacit.kernels.layout import Side
from tacit.kernels.lists.linked import row_sums
from tacit.kernels.predict import bilinear

Array = NDArray[Any]


class Summands(NamedTuple):
    """One number or row of numbers per column, shape (columns,) or (columns, K)."""

    of_columns: Array


class CellSums(NamedTuple):
    """Sums per row of a block, shape (rows,) or (rows, K)."""

    of_rows: Array


def sum_block(block: SideRows, summands: Summands) -> CellSums:
    """Sum over the cells of each row of the block."""
    return CellSums(row_sums(block.starts, block.columns, summands.of_columns))


@dataclass(frozen=True, eq=False)
class CellsOnEngine:
    """The matrix, shape (rows, columns), and its transpose, `T`: both sides in blocks."""

    shape: tuple[int, int]
    rows: list[SideRows]
    columns: list[SideRows]
    engine: Engine

    @classmethod
    def of(cls, cells: csr_array, name: str, engine: Engine, tables: Tables) -> "CellsOnEngine":
        """Store the cells of a sparse matrix in tables prefixed with `name`."""
        rows = of_matrix(f"{name}-rows", cells, engine.blocks, tables)
        columns = of_matrix(f"{name}-columns", csr_array(cells.T), engine.blocks, tables)
        return cls(cells.shape, rows, columns, engine)

    @property
    def T(self) -> "CellsOnEngine":  # noqa: N802  # as NumPy and SciPy have it
        """The transpose."""
        m, n = self.shape
        return CellsOnEngine((n, m), self.columns, self.rows, self.engine)

    def __matmul__(self, x: Array) -> Array:
        """Return the product with `x`: sums over the cells of each row."""
        parts = self.engine.over(sum_block, self.rows, Summands(np.ascontiguousarray(x)))
        return np.concatenate([part.of_rows for part in parts])


Codes = NDArray[np.int32]
Doubles = NDArray[np.float64]
DAMPING = 10.0  # pseudo-ratings that damp the direction of a user or an item


@dataclass(frozen=True, eq=False)
class PresenceMatrix:
    """Debiased presence matrix.

    `reported`: 1 at each report, shape (users, items). `rated`, `unrated`: P(reported | rated) and
    P(reported | not rated) of each user's channel, shape (users,). `asked`: 1 at each queried slot,
    or None when all were. `products`: both matrices on an engine, None for this process.
    """

    reported: csr_array
    rated: Doubles
    unrated: Doubles
    asked: csr_array | None = None
    products: tuple[CellsOnEngine, CellsOnEngine | None] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(users, items)."""
        return self.reported.shape

    @cached_property
    def share(self) -> float:
        """Queried slots as a fraction of all."""
        m, n = self.shape
        return 1.0 if self.asked is None else self.asked.nnz / (m * n)

    @property
    def gain(self) -> Doubles:
        """What one report adds to C, relative to a queried slot without a report."""
        return 1 / ((self.rated - self.unrated) * self.share)

    @property
    def entry(self) -> Doubles:
        """C at a reported slot of each user, shape (users,)."""
        return (1 - self.unrated) * self.gain

    @property
    def variance(self) -> Doubles:
        """Var[C] at an unrated slot times the queried fraction, per user."""
        return self.unrated * (1 - self.unrated) / (self.rated - self.unrated) ** 2

    @property
    def told_of(self) -> NDArray[np.bool_]:
        """Which items have presence information, shape (items,).

        An item without raters has none: its zero count is not evidence of its properties, but would
        be the strongest feature of all.
        """
        return np.asarray(self.of_items > 0) | self.protected

    def where(self, keep: NDArray[np.bool_]) -> "PresenceMatrix":
        """Return the rows of some users. `keep`: mask of shape (users,)."""
        queried = None if self.asked is None else self.asked[keep]
        return PresenceMatrix(self.reported[keep], self.rated[keep], self.unrated[keep], queried)

    def on(self, engine: Engine | None, tables: Tables) -> "PresenceMatrix":
        """Return the matrix with products on an engine; results are identical.

        None: this process.
        """
        return self if engine is None else replace(self, products=self._laid_out(engine, tables))

    @cached_property
    def operands(self) -> tuple[CellsOnEngine, CellsOnEngine | None]:
        """`reported` and `asked` as operands of products."""
        return self.products or self._laid_out(Local(), InMemory())

    def _laid_out(
        self, engine: Engine, tables: Tables
    ) -> tuple[CellsOnEngine, CellsOnEngine | None]:
        queried = self.asked
        return (
            CellsOnEngine.of(self.reported, "reported", engine, tables),
            None if queried is None else CellsOnEngine.of(queried, "asked", engine, tables),
        )

    def over_items(self, x: Doubles) -> Doubles:
        """Return C x for x of shape (items,) or (items, d)."""
        reported, queried = self.operands
        silent = np.broadcast_to(x.sum(0), (self.shape[0], *x.shape[1:]))
        return self._decoded(reported @ x, silent if queried is None else queried @ x)

    def over_people(self, x: Doubles) -> Doubles:
        """Return C' x for x of shape (users,) or (users, d)."""
        up, down = _scaled(x, self.gain), _scaled(x, self.gain * self.unrated)
        reported, queried = self.operands
        silent = down.sum(0) if queried is None else queried.T @ down
        return np.asarray(reported.T @ up - silent, np.float64)

    @cached_property
    def of_people(self) -> Doubles:
        """Ratings per user: debiased, then shrunk to the average user by the noise."""
        return _shrunk(self.over_items(np.ones(self.shape[1])), self.variance * self.shape[1])

    @cached_property
    def of_items(self) -> Doubles:
        """Ratings per item: debiased, then shrunk to the average item by the noise."""
        noise = np.full(self.shape[1], self.variance.sum())
        return _shrunk(self.over_people(np.ones(self.shape[0])), noise)

    @property
    def total(self) -> float:
        """Total number of ratings, at least one."""
        return max(float(self.over_items(np.ones(self.shape[1])).sum()), 1.0)

    @property
    def degrees(self) -> tuple[Doubles, Doubles]:
        """Damped degrees of users and items: the expected squared norms of the rows of C.

        They include the variance of noisy slots, so that dividing by their roots leaves noise of
        about equal size everywhere. Without noise they are the numbers of ratings.
        """
        people = self.of_people + self.variance * self.shape[1] + DAMPING
        return people, self.of_items + self.variance.sum() + DAMPING

    @property
    def protected(self) -> bool:
        """Whether a channel protects presence, so that C is noisy."""
        return bool(self.unrated.any())

    def expected(self, users: Codes, items: Codes) -> Doubles:
        """Return presence expected from activity and popularity alone: n_u n_i / N, shape (n,)."""
        return self.of_people[users] * self.of_items[items] / self.total

    def normalized(self) -> LinearOperator:
        """Return D_u^-1/2 (C - E) D_i^-1/2 as an operator.

        E is `expected` where C is noisy, else 0: where noise may hide every direction, the
        independence model must not be hidden as well.
        """
        people, items = (degree**-0.5 for degree in self.degrees)
        weight = 1 / self.total if self.protected else 0.0
        active, popular = people * self.of_people * weight, items * self.of_items
        return LinearOperator(
            self.shape,
            dtype=np.float64,
            matvec=lambda x: (
                people * self.over_items(items * x.ravel()) - active * (popular @ x.ravel())
            ),
            rmatvec=lambda x: (
                items * self.over_people(people * x.ravel()) - popular * (active @ x.ravel())
            ),
        )

    @property
    def noise(self) -> float:
        """Noise of one entry of `normalized`: sqrt(1 / (ratings + noise of C))."""
        expected = self.total + self.shape[1] * float(self.variance.sum())
        return float((self.share * expected) ** -0.5)

    def _decoded(self, reported: Doubles, queried: Doubles) -> Doubles:
        return np.asarray(
            _scaled(reported, self.gain) - _scaled(queried, self.gain * self.unrated), np.float64
        )


def cells(side: Side, items: int) -> csr_array:
    """Return a matrix with 1 at each user's cells in `side`, shape (users, items)."""
    ones = np.ones(len(side.other), np.int8)
    return csr_array((ones, side.other, side.start), shape=(len(side.counts), items))


def public(reported: csr_array) -> PresenceMatrix:
    """Return the presence matrix where presence is public: 1 at each rating."""
    people = reported.shape[0]
    return PresenceMatrix(reported, np.ones(people), np.zeros(people))


def _scaled(x: Doubles, factor: Doubles) -> Doubles:
    return (x.T * factor).T


def _shrunk(counts: Doubles, noise: Doubles) -> Doubles:
    """Return posterior means of counts under a normal prior fitted to them, at least zero."""
    if not noise.any():
        return counts
    spread = max(float(counts.var() - noise.mean()), 1e-9)
    centre = float(counts.mean())
    return np.maximum(centre + spread / (spread + noise) * (counts - centre), 0.0)


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
        entries = matrix.entry[users] if entries is None else entries
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
    return float(values.min())


def _leading(matrix: PresenceMatrix, rank: int, near: float) -> tuple[Doubles, Doubles, Doubles]:
    """Return the leading singular triplets (U, s, V') of B, in any order."""
    even = np.ones(min(matrix.shape)) / np.sqrt(min(matrix.shape))
    left, values, right = svds(matrix.normalized(), k=rank, v0=even, tol=near)
    return left, np.asarray(values, np.float64), right


def _without_bias(rows: Doubles) -> NDArray[np.float32]:
    return np.pad(rows, ((0, 0), (1, 0))).astype(np.float32)
