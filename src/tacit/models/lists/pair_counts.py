"""PairSums of C_ui C_uj over people, block by block of items, from counts of pairs.

With R_ui whether slot (u, i) was reported and A_ui whether it was asked about, of people whose
channels are of one kind,

    sum_u C_ui C_uj = gain^2 (R'R - q (R'A + A'R) + q^2 A'A)_ij,    C = gain (R - q A)

and the products count, so that they are the same number in whatever order they are added up.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.engines.engine import Engine, cut
from tacit.engines.tables import Table, Tables, opened
from tacit.models.evidence.presence_matrix import PresenceMatrix

Doubles = NDArray[np.float64]
BLOCK_BYTES = 64 << 20
"""Of people's rows laid out at a time."""
SPARSE = 0.05
"""A share of filled slots below which it is faster not to lay rows out."""


class ItemRange(NamedTuple):
    """A block: items `first` to `end`."""

    first: int
    end: int


class SlotTables(NamedTuple):
    """SlotTables of everybody, as in `tacit.kernels.layout.Side`."""

    start: Table
    other: Table


class Kind(NamedTuple):
    """People `first` to `end`, whose channels have this gain and P(reported | not rated)."""

    first: int
    end: int
    gain: float
    unrated: float


class Everybody(NamedTuple):
    """All people, by kind. `asked`: None where everybody was asked about all `items`."""

    items: int
    reported: SlotTables
    asked: SlotTables | None
    kinds: tuple[Kind, ...]


class PairSums(NamedTuple):
    """Of pairs of an item of the block with each item, shape (items of the block, items)."""

    of_pairs: Doubles


def pair_sums(presence: PresenceMatrix, engine: Engine, tables: Tables) -> Doubles:
    """sum_u C_ui C_uj, shape (items, items)."""
    order, kinds = _by_kind(presence)
    reported, asked = presence.reported[order], presence.asked
    everybody = Everybody(
        presence.shape[1],
        _slots(reported, "reported-by-kind", tables),
        None if asked is None else _slots(asked[order], "asked-by-kind", tables),
        kinds,
    )
    blocks = [ItemRange(part.start, part.stop) for part in cut(presence.shape[1], engine.blocks)]
    return np.vstack([each.of_pairs for each in engine.over(sum_pairs, blocks, everybody)])


def sum_pairs(block: ItemRange, everybody: Everybody) -> PairSums:
    """The sums of the block's items."""
    items = slice(block.first, block.end)
    total = np.zeros((block.end - block.first, everybody.items))
    for kind in everybody.kinds:
        R = _rows(everybody.reported, kind, everybody.items)
        found = _counts(R, R, items)
        if kind.unrated:
            found -= kind.unrated * _asked_too(R, everybody, kind, items)
        total += kind.gain**2 * found
    return PairSums(total)


def _asked_too(R: csr_array, everybody: Everybody, kind: Kind, items: slice) -> Doubles:
    """(R'A + A'R - q A'A)_ij."""
    if everybody.asked is None:
        of_item = np.asarray(R.sum(0), np.float64)
        both = of_item[items, None] + of_item
        return both - kind.unrated * R.shape[0]
    A = _rows(everybody.asked, kind, everybody.items)
    return _counts(R, A, items) + _counts(A, R, items) - kind.unrated * _counts(A, A, items)


def _by_kind(presence: PresenceMatrix) -> tuple[NDArray[np.int64], tuple[Kind, ...]]:
    """People by the kind of their channels, and the kinds."""
    pairs = np.stack([presence.gain, presence.unrated], 1)
    found, kind = np.unique(pairs, axis=0, return_inverse=True)
    ends = np.searchsorted(np.sort(kind), np.arange(len(found) + 1)).tolist()
    kinds = zip(pairwise(ends), found.tolist(), strict=True)
    return np.argsort(kind, kind="stable"), tuple(Kind(*run, *each) for run, each in kinds)


def _slots(cells: csr_array, name: str, tables: Tables) -> SlotTables:
    start = tables.put(f"{name}-start", cells.indptr.astype(np.int64))
    return SlotTables(start, tables.put(f"{name}-other", cells.indices.astype(np.int32)))


def _rows(slots: SlotTables, kind: Kind, items: int) -> csr_array:
    """1 at each of these people's slots, shape (people, items)."""
    start: Any = np.asarray(opened(slots.start)[kind.first : kind.end + 1])
    other = np.asarray(opened(slots.other)[int(start[0]) : int(start[-1])])
    ones = np.ones(len(other), np.float32)
    return csr_array((ones, other, start - start[0]), shape=(len(start) - 1, items))


def _counts(left: csr_array, right: csr_array, items: slice) -> Doubles:
    """left' right for these items of the left one, shape (items of the slice, items)."""
    m, n = right.shape
    left = csr_array(left[:, items])
    if right.nnz < SPARSE * m * n:
        return (left.T @ right).toarray().astype(np.float64)
    counts = np.zeros((left.shape[1], n))
    size = max(1, BLOCK_BYTES // (4 * n))
    for first in range(0, m, size):
        some = slice(first, first + size)
        counts += left[some].toarray().T @ right[some].toarray()
    return counts
