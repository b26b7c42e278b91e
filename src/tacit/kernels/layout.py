"""Compressed rows: the cells of a sparse matrix, grouped by either side."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.errors import RequestError

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
ROW_COST = 30  # fixed cost of a row, in cells
MOST_CELLS = 2**31 - 1


class Side(NamedTuple):
    """Cells grouped by row. Row r has the positions `start[r]` to `start[r + 1]`.

    `other[t]`: the column of the cell at position t. `cell[t]`: its number in canonical order,
    which is by user, then by item; for the user side it is t itself.
    """

    start: Longs
    other: Ints
    cell: Ints

    @property
    def counts(self) -> Longs:
        """Number of cells per row."""
        return np.diff(self.start)


class Layout(NamedTuple):
    """A set of cells, grouped by both sides."""

    users: Side
    items: Side


def layout(users: Ints, items: Ints, n_users: int, n_items: int) -> tuple[Layout, Ints]:
    """Group cells (users[k], items[k]) both ways; codes of shape (n,) below n_users, n_items.

    Also returns the permutation that sorts the cells: values in input order become values in
    canonical order by `values[order]`. Canonical order makes every later sum independent of the
    order of input rows. Raises as `by_user`.
    """
    of_users, order = by_user(users, items, n_users, n_items)
    start = starts(counted(items, n_items))
    by_item = _sorted_by_code(of_users.other, of_users.cell, start)
    return Layout(of_users, Side(start, users[order][by_item], by_item)), order


def by_user(users: Ints, items: Ints, n_users: int, n_items: int) -> tuple[Side, Ints]:
    """Return the user side of `layout` alone, and the permutation that sorts the cells.

    Raises `RequestError` for more cells than 31 bits can index.
    """
    if len(users) > MOST_CELLS:
        raise RequestError(
            f"A table holds at most {MOST_CELLS:,} ratings or reports, got {len(users):,}; leave "
            "out users."
        )
    each = np.arange(len(users), dtype=np.int32)
    by_item = _sorted_by_code(items, each, starts(counted(items, n_items)))
    start = starts(counted(users, n_users))
    order = _sorted_by_code(users, by_item, start)
    return Side(start, items[order], each), order


@njit(cache=True)
def counted(codes: NDArray[np.integer[Any]], n: int) -> Longs:
    """Count each code below `n`: `np.bincount` without a copy of eight bytes per code."""
    counts = np.zeros(n, np.int64)
    for code in codes:
        counts[code] += 1
    return counts


@njit(cache=True)
def _sorted_by_code(codes: Ints, indices: Ints, start: Longs) -> Ints:
    """Stable counting sort of `indices` by the codes at them.

    `start`: start of each code's run, as from `starts`.
    """
    free, dealt = start.copy(), np.empty_like(indices)
    for index in indices:
        code = codes[index]
        dealt[free[code]] = index
        free[code] += 1
    return dealt


def starts(counts: Longs) -> Longs:
    """Return the start of each of several consecutive runs, and the end of the last one."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def even_pieces(start: Longs, pieces: int) -> Longs:
    """Return boundaries of rows that divide the work about evenly, shape (pieces + 1,)."""
    work = start - start[0] + ROW_COST * np.arange(len(start))
    ends = np.asarray(np.searchsorted(work, work[-1] * np.arange(pieces + 1) / pieces), np.int64)
    ends[0], ends[-1] = 0, len(start) - 1
    return ends
