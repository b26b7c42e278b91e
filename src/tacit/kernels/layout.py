"""Compressed rows: the cells of a sparse matrix, grouped by one of its sides."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.errors import RequestError

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
ROW_COST = 30  # of a row beside its cells, in cells
MOST_CELLS = 2**31 - 1


class Side(NamedTuple):
    """Cells grouped by row. Row r owns positions `start[r]` to `start[r + 1]`.

    `other[t]`: the column of the cell at position t. `cell[t]`: its number in canonical order,
    which is by user, then by item; for the user side it is t itself.
    """

    start: Longs
    other: Ints
    cell: Ints

    @property
    def counts(self) -> Longs:
        """Cells in each row."""
        return np.diff(self.start)


class Layout(NamedTuple):
    """A cell set seen from both sides."""

    users: Side
    items: Side


def layout(users: Ints, items: Ints, n_users: int, n_items: int) -> tuple[Layout, Ints]:
    """Group cells (users[k], items[k]) both ways; codes of shape (n,) below n_users, n_items.

    With them the permutation that sorted the cells: values in input order become values in
    canonical order by `values[order]`. Canonical order makes every later sum independent of the
    order in which people's rows arrived. Raises as `by_user`.
    """
    of_users, order = by_user(users, items, n_users, n_items)
    start = starts(counted(items, n_items))
    by_item = _dealt(of_users.other, of_users.cell, start)
    return Layout(of_users, Side(start, users[order][by_item], by_item)), order


def by_user(users: Ints, items: Ints, n_users: int, n_items: int) -> tuple[Side, Ints]:
    """The user side of `layout` alone, and the permutation that sorted the cells.

    Raises `RequestError` for more cells than 31 bits can number.
    """
    if len(users) > MOST_CELLS:
        raise RequestError(
            f"A table holds at most {MOST_CELLS:,} ratings or reports, got {len(users):,}; leave "
            "out users."
        )
    each = np.arange(len(users), dtype=np.int32)
    by_item = _dealt(items, each, starts(counted(items, n_items)))
    start = starts(counted(users, n_users))
    order = _dealt(users, by_item, start)
    return Side(start, items[order], each), order


@njit(cache=True)
def counted(codes: NDArray[np.integer[Any]], n: int) -> Longs:
    """How often each code below `n` occurs: `np.bincount` without a copy eight bytes wide."""
    counts = np.zeros(n, np.int64)
    for code in codes:
        counts[code] += 1
    return counts


@njit(cache=True)
def _dealt(codes: Ints, places: Ints, start: Longs) -> Ints:
    """The places by ascending code at them, else in the order given: a sort by counting.

    `start`: where each code's run begins, as `starts` says it.
    """
    free, dealt = start.copy(), np.empty_like(places)
    for place in places:
        code = codes[place]
        dealt[free[code]] = place
        free[code] += 1
    return dealt


def starts(counts: Longs) -> Longs:
    """Where each of several runs begins that stand one after another, and the last one's end."""
    places = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=places[1:])
    return places


def even_pieces(start: Longs, pieces: int) -> Longs:
    """Where to cut rows so that each piece is about as much work, shape (pieces + 1,)."""
    work = start - start[0] + ROW_COST * np.arange(len(start))
    ends = np.asarray(np.searchsorted(work, work[-1] * np.arange(pieces + 1) / pieces), np.int64)
    ends[0], ends[-1] = 0, len(start) - 1
    return ends
