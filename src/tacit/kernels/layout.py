"""Compressed rows: the cells of a sparse matrix, grouped by one of its sides."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


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
    order = np.lexsort((items, users)).astype(np.int64)
    u, i = users[order], items[order]
    by_item = np.argsort(i, kind="stable").astype(np.int64)
    return Layout(
        users=Side(starts(np.bincount(u, minlength=n_users)), i, np.arange(len(u), dtype=np.int64)),
        items=Side(starts(np.bincount(i, minlength=n_items)), u[by_item], by_item),
        order=order,
    )


def starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of several runs begins that stand one after another, and the last one's end."""
    places = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=places[1:])
    return places
