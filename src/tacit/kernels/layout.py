"""Compressed rows: the cells of a sparse matrix, grouped by one of its sides."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
ROW_COST = 30  # of a row beside its cells, in cells


class Side(NamedTuple):
    """Cells grouped by row. Row r owns positions `start[r]` to `start[r + 1]`.

    `other[t]`: the column of the cell at position t. `cell[t]`: its number in canonical order,
    which is by user, then by item; for the user side it is t itself.
    """

    start: NDArray[np.int64]
    other: Ints
    cell: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Cells in each row."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class Layout:
    """A cell set seen from both sides, and the permutation that sorted it.

    Values in input order become values in canonical order by `values[order]`. Canonical order
    makes every later sum independent of the order in which people's rows arrived.
    """

    users: Side
    items: Side
    order: NDArray[np.int64]


def layout(users: Ints, items: Ints, n_users: int, n_items: int) -> Layout:
    """Group cells (users[k], items[k]) both ways; codes of shape (n,) below n_users, n_items."""
    of_users, order = by_user(users, items, n_users, n_items)
    start = starts(np.bincount(items, minlength=n_items))
    by_item = _dealt(of_users.other, of_users.cell, start)
    return Layout(of_users, Side(start, users[order][by_item], by_item), order)


def by_user(users: Ints, items: Ints, n_users: int, n_items: int) -> tuple[Side, Longs]:
    """The user side of `layout` alone, and the permutation that sorted the cells."""
    each = np.arange(len(users))
    by_item = _dealt(items, each, starts(np.bincount(items, minlength=n_items)))
    start = starts(np.bincount(users, minlength=n_users))
    order = _dealt(users, by_item, start)
    return Side(start, items[order], each), order


@njit(cache=True)
def _dealt(codes: Ints, places: Longs, start: Longs) -> Longs:
    """The places by ascending code at them, else in the order given: a sort by counting.

    `start`: where each code's run begins, as `starts` says it.
    """
    free, dealt = start.copy(), np.empty_like(places)
    for place in places:
        code = codes[place]
        dealt[free[code]] = place
        free[code] += 1
    return dealt


def starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
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
