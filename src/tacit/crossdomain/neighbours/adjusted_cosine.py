"""Adjusted cosine similarity: ratings are centred by the rater's mean.

    s(i, j) = sum over u in Y_i n Y_j of (r_ui - r_u)(r_uj - r_u) / (||i|| ||j||)       [X-Map, 3.1]
    ||i||^2 = sum over u in Y_i of (r_ui - r_u)^2, over all raters of i, not only those of i and j
    S_ij = number of users in Y_i n Y_j who rate both at least at their means, or both below

Centred ratings are integers on a grid of 2^-20 of a step of the scale.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine, cut
from tacit.errors import RequestError
from tacit.kernels.layout import Side, layout, starts
from tacit.kernels.similar import Near, Things, Wanted, best_of, nearest, stacked
from tacit.ratings import Codes

Longs = NDArray[np.int64]
POINT_BITS = 8
"""Fractional bits of a mean of several ratings, in steps of the scale."""
GRID_BITS = 20


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Sparse ratings of things (such as items) by witnesses (such as users), indexed from both
    sides, centred by witness.

    `value`: centred rating on the grid. `like`: whether a rating is at least the mean of its thing.
    Both in canonical order, shape (n,). `root`: norm of each thing.
    """

    things: Side
    witnesses: Side
    value: NDArray[np.int32]
    like: NDArray[np.uint8]
    root: NDArray[np.float64]

    @classmethod
    def of(cls, things: Codes, witnesses: Codes, points: Longs, n: int, n_witnesses: int) -> Self:
        """Build from one row per rating. `points`: steps of the scale times 2^8, shape (rows,).

        Raises `RequestError` if a sum exceeds 64 bits.
        """
        cells, order = layout(witnesses, things, n_witnesses, n)
        witness, thing, points = witnesses[order], cells.users.other, points[order]
        value = centred(points, witness, cells.users.counts)
        norms = np.bincount(thing, value.astype(np.float64) ** 2, n)
        if norms.max(initial=0) >= 2.0**62:
            raise RequestError(
                f"The sums of {int(cells.items.counts.max())} ratings of one item "
                "exceed 64 bits at this range of the scale; leave out users or use a "
                "scale with fewer levels."
            )
        squares = np.zeros(n, np.int64)
        np.add.at(squares, thing, value.astype(np.int64) ** 2)
        totals, counts = np.zeros(n, np.int64), cells.items.counts
        np.add.at(totals, thing, points)
        like = points * counts[thing] >= totals[thing]
        return cls(cells.items, cells.users, value, like.astype(np.uint8), np.sqrt(squares))

    def nearest(self, rows: Codes, columns: Codes, wanted: Wanted, engine: Engine) -> Near:
        """Return the most similar `columns` of each of `rows`, both ascending indices of things."""
        if len(rows) == 0 or len(columns) == 0:
            return nearest(self.rows(rows), self.columns(columns), wanted)
        parts = engine.across(
            nearest,
            [self.rows(rows[run]) for run in cut(len(rows), engine.blocks)],
            [self.columns(columns[run]) for run in cut(len(columns), engine.blocks)],
            wanted,
        )
        return stacked([best_of(row, wanted) for row in parts])

    def rows(self, codes: Codes) -> Things:
        """Return things with their cells, indexed by thing."""
        counts = self.things.counts[codes]
        start = starts(counts)
        first: Longs = np.repeat(self.things.start[codes] - start[:-1], counts)
        at = np.arange(len(first)) + first
        cell = self.things.cell[at]
        return Things(
            codes.astype(np.int32), self.root[codes], start, self.things.other[at],
            self.value[cell], self.like[cell],
        )  # fmt: skip

    def columns(self, codes: Codes) -> Things:
        """Return things with their cells, indexed by witness."""
        index = np.full(len(self.root), -1, np.int32)
        index[codes] = np.arange(len(codes))
        places = index[self.witnesses.other]
        mine = places >= 0
        before = starts(mine.astype(np.int64))
        return Things(
            codes.astype(np.int32), self.root[codes], before[self.witnesses.start],
            places[mine], self.value[mine], self.like[mine],
        )  # fmt: skip


def centred(points: Longs, owner: Codes, counts: Longs) -> NDArray[np.int32]:
    """Return points minus the owner's mean, in 2^-20 of a step of the scale.

    Exact, rounded half up. All of shape (n,), except `counts`: (owners,). Raises `RequestError` if
    the range of the ratings exceeds the grid.
    """
    totals = np.zeros(len(counts), np.int64)
    np.add.at(totals, owner, points)
    n = counts[owner]
    shift = GRID_BITS - POINT_BITS
    if np.ptp(points) >= 1 << (30 - shift) if len(points) else False:
        raise RequestError(
            f"The range of the ratings is {np.ptp(points) >> POINT_BITS} steps, "
            "which exceeds the grid; use a scale with fewer levels."
        )
    return (((points * n - totals[owner] << shift + 1) + n) // (2 * n)).astype(np.int32)
