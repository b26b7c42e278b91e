"""Presence matrix estimated from reports: C with E[C] = A, the true 0/1 matrix of rated cells.

Where presence is public C is A itself. Where a channel protects it, a slot is reported with
probability p if rated and q if not, and, with the fraction rho of slots queried,

    C_ui = (reported_ui - q) / ((p - q) rho)    queried,    0    not queried

has expectation A_ui (Zheng's reports, debiased). Where items are queried in blocks that not every
user has answered, the fraction is that of the item's block, rho / lift_i. C is a sparse matrix
minus a matrix of rank one (or a sparse one, if only some slots were queried). Products with it cost
as much as the number of reports; the m x n cells are never materialized.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from tacit.engines.engine import Engine, Local
from tacit.engines.tables import InMemory, Tables
from tacit.kernels.layout import Side
from tacit.models.evidence.cells_on_engine import CellsOnEngine

Codes = NDArray[np.int32]
Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
LEAST_RATE = 1e-6  # of P(reported | not rated), which may be 0 where only sampling hides presence
DAMPING = 10.0  # pseudo-ratings that damp the direction of a user or an item


@dataclass(frozen=True, eq=False)
class PresenceMatrix:
    """Debiased presence matrix.

    `reported`: 1 at each report, shape (users, items). `rated`, `unrated`: P(reported | rated) and
    P(reported | not rated) of each user's channel, shape (users,). `asked`: 1 at each queried slot,
    or None when all were. `products`: both matrices on an engine, None for this process. `blocks`:
    the block of each item, shape (items,), None where one fraction holds for all items.
    """

    reported: csr_array
    rated: Doubles
    unrated: Doubles
    asked: csr_array | None = None
    products: tuple[CellsOnEngine, CellsOnEngine | None] | None = None
    blocks: Codes | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(users, items)."""
        return self.reported.shape

    @cached_property
    def share(self) -> float:
        """Queried slots as a fraction of all."""
        m, n = self.shape
        return 1.0 if self.asked is None else self.asked.nnz / (m * n)

    @cached_property
    def queried_of_blocks(self) -> Doubles:
        """Queried slots of each user in each block, shape (users, blocks); one block by default."""
        m, n = self.shape
        if self.asked is None:
            return np.full((m, 1), float(n))
        blocks = np.zeros(n, np.int32) if self.blocks is None else self.blocks
        ones = np.ones(n, np.float64)
        indicator = csr_array((ones, (np.arange(n), blocks)), shape=(n, int(blocks.max()) + 1))
        return np.asarray((self.asked.astype(np.float64) @ indicator).toarray())

    @cached_property
    def lift(self) -> Doubles:
        """rho / rho_i, by which an item's reports count more, shape (items,).

        0 for items of a block without answers, which have no reports either.
        """
        n = self.shape[1]
        if self.blocks is None or self.asked is None:
            return np.ones(n)
        queried, sizes = self.queried_of_blocks.sum(0), np.bincount(self.blocks)
        rates = queried / np.maximum(sizes * self.shape[0], 1)
        return np.where(rates > 0, self.share / np.where(rates > 0, rates, 1), 0)[self.blocks]

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
    def is_observed(self) -> NDArray[np.bool_]:
        """Which items have presence information, shape (items,).

        An item without raters has none: its zero count is not evidence of its properties, but would
        be the strongest feature of all.
        """
        return np.asarray(self.of_items > 0) | self.protected

    def where(self, keep: NDArray[np.bool_]) -> "PresenceMatrix":
        """Return the rows of some users. `keep`: mask of shape (users,)."""
        queried = None if self.asked is None else self.asked[keep]
        rows = self.reported[keep], self.rated[keep], self.unrated[keep], queried
        return PresenceMatrix(*rows, blocks=self.blocks)

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
        x, (reported, queried) = self._lifted(x), self.operands
        silent = np.broadcast_to(x.sum(0), (self.shape[0], *x.shape[1:]))
        return self._decoded(reported @ x, silent if queried is None else queried @ x)

    def over_people(self, x: Doubles) -> Doubles:
        """Return C' x for x of shape (users,) or (users, d)."""
        up, down = _scaled(x, self.gain), _scaled(x, self.gain * self.unrated)
        reported, queried = self.operands
        silent = down.sum(0) if queried is None else queried.T @ down
        return self._lifted(np.asarray(reported.T @ up - silent, np.float64))

    def squares_over_items(self, x: Doubles) -> Doubles:
        """Return sum_i C_ui^2 x_i for x of shape (items,), shape (users,)."""
        x, (reported, queried) = self._lifted(self._lifted(x)), self.operands
        silent = np.full(self.shape[0], x.sum()) if queried is None else queried @ x
        at_silence = (self.unrated * self.gain) ** 2
        return np.asarray((reported @ x) * (self.entry**2 - at_silence) + silent * at_silence)

    def dense(self, some: slice | Codes) -> Floats:
        """Return the rows of C of some users, shape (users, items)."""
        up, down = self.entry[some], -(self.unrated * self.gain)[some]
        rows = csr_array(self.reported[some])
        filled = _filled(self.asked, some, rows.shape, down.astype(np.float32), 0.0)
        each = np.repeat(np.arange(len(up)), np.diff(rows.indptr))
        filled[each, rows.indices] = up.astype(np.float32)[each]
        return filled if self.blocks is None else filled * self.lift.astype(np.float32)

    def unowned(self, scores: Floats, some: slice | Codes) -> Floats:
        """Return s / (s l + 1 - s): scores corrected for each slot's own report.

        `scores`: s, P(rated) by other slots, of the users `some`, shape (users, items). l is
        P(report | rated) / P(report | not rated) of the slot's own report. An interaction to come
        is with an item not yet rated, so this is, by Bayes' rule and up to a factor, the
        probability of one.
        """
        p, q = self.rated[some].astype(np.float32), self.unrated[some].astype(np.float32)
        likely = np.clip(scores, 0, 1)
        rows = csr_array(self.reported[some])
        ratio = _filled(self.asked, some, scores.shape, (1 - p) / (1 - q), 1.0)
        each = np.repeat(np.arange(len(p)), np.diff(rows.indptr))
        ratio[each, rows.indices] = (p / np.maximum(q, LEAST_RATE))[each]
        return np.asarray(scores / (likely * ratio + 1 - likely), np.float32)

    @cached_property
    def of_people(self) -> Doubles:
        """Ratings per user: debiased, then shrunk to the average user by the noise."""
        return _shrunk(self.over_items(np.ones(self.shape[1])), self.variance * self.shape[1])

    @cached_property
    def of_items(self) -> Doubles:
        """Ratings per item: debiased, then shrunk to the average item by the noise."""
        noise = self.lift * self.variance.sum()
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
        return people, self.of_items + self.lift * self.variance.sum() + DAMPING

    @property
    def noisy(self) -> bool:
        """Whether C is an estimate: presence is protected, or only some slots were queried."""
        return self.protected or self.asked is not None

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

    def _lifted(self, x: Doubles) -> Doubles:
        return x if self.blocks is None else _scaled(x, self.lift)

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


def _filled(
    queried: csr_array | None,
    some: slice | Codes,
    shape: tuple[int, ...],
    values: Floats,
    elsewhere: float,
) -> Floats:
    """Return each user's value at their queried slots, and another elsewhere."""
    if queried is None:
        return np.repeat(values[:, None], shape[1], axis=1)
    rows, filled = csr_array(queried[some]), np.full(shape, elsewhere, np.float32)
    each = np.repeat(np.arange(len(values)), np.diff(rows.indptr))
    filled[each, rows.indices] = values[each]
    return filled


def _scaled(x: Doubles, factor: Doubles) -> Doubles:
    return (x.T * factor).T


def _shrunk(counts: Doubles, noise: Doubles) -> Doubles:
    """Return posterior means of counts under a normal prior fitted to them, at least zero."""
    if not noise.any():
        return counts
    spread = max(float(counts.var() - noise.mean()), 1e-9)
    centre = float(counts.mean())
    return np.maximum(centre + spread / (spread + noise) * (counts - centre), 0.0)
