"""Compressed rows: the cells of a sparse matrix, grouped by either side, with sums and products."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.kernels import over_pieces, thread_pieces

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Array = NDArray[Any]
Floats = NDArray[np.float32]
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
    if _in_order(users, items):
        return Side(starts(counted(users, n_users)), items.astype(np.int32), each), each
    by_item = _sorted_by_code(items, each, starts(counted(items, n_items)))
    start = starts(counted(users, n_users))
    order = _sorted_by_code(users, by_item, start)
    return Side(start, items[order], each), order


@njit(cache=True)
def _in_order(users: Ints, items: Ints) -> bool:
    """Return whether cells are sorted by user, then item."""
    for k in range(1, len(users)):
        if users[k] < users[k - 1] or (users[k] == users[k - 1] and items[k] < items[k - 1]):
            return False
    return True


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


# Numbering of distinct 128-bit names in many rows, without Python objects.

Words = NDArray[np.uint64]
Codes = NDArray[np.int32]
LEAST_BITS = 10


def numbered(names: Words) -> tuple[Codes, Words]:
    """Return the number of each row's name, by first appearance, and the distinct names.

    `names`: 128 bits each, shape (n, 2); returns shapes (n,) and (distinct names, 2). Names may be
    chosen adversarially: their slots in the hash table depend on secret random numbers, the result
    does not.
    """
    odd = np.random.default_rng().integers(0, 1 << 63, 2, np.uint64) * np.uint64(2) + np.uint64(1)
    numbers, known = np.empty(len(names), np.int32), np.empty((len(names), 2), np.uint64)
    return numbers, known[: _number(names, odd, numbers, known)].copy()


@njit(cache=True)
def _number(names: Words, odd: Words, numbers: Codes, known: Words) -> int:
    bits, count = LEAST_BITS, 0
    table = np.full(1 << bits, -1, np.int32)
    for row in range(len(names)):
        at = _slot(names[row, 0], names[row, 1], odd, bits, table, known)
        if table[at] < 0:
            table[at] = count
            known[count, 0], known[count, 1] = names[row, 0], names[row, 1]
            count += 1
        numbers[row] = table[at]
        if 2 * count > len(table):
            bits += 1
            table = np.full(1 << bits, -1, np.int32)
            for number in range(count):
                high, low = known[number]
                table[_slot(high, low, odd, bits, table, known)] = number
    return count


@njit(cache=True)
def _slot(
    high: np.uint64, low: np.uint64, odd: Words, bits: int, table: Codes, known: Words
) -> np.int64:
    """Return the slot of a name in the table, or the one to insert it at."""
    at = np.int64((high * odd[0] + low * odd[1]) >> np.uint64(64 - bits))
    while table[at] >= 0:
        if known[table[at], 0] == high and known[table[at], 1] == low:
            break
        at = np.int64((at + 1) & (len(table) - 1))
    return at


def row_sums(start: Longs, column: Ints, x: Array) -> Array:
    """Return, for each row, the sum of the rows of `x` at the columns of its cells.

    Row r has cells in the columns `column[start[r] : start[r + 1]]`. `x`: float32 or float64, shape
    (columns,) or (columns, K). Shape (rows,) or (rows, K), of the same type.
    """
    x = np.ascontiguousarray(x)
    sums = np.zeros((len(start) - 1, *x.shape[1:]), x.dtype)
    add = _add_numbers if x.ndim == 1 else _add_rows
    pieces = thread_pieces(start)
    over_pieces(add, pieces, start, column, x, sums)
    return sums


@njit(nogil=True, cache=True)
def _add_numbers(
    piece: int, pieces: Longs, start: Longs, column: Ints, x: Array, sums: Array
) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        total = sums[row]
        for t in range(start[row], start[row + 1]):
            total += x[column[t]]
        sums[row] = total


@njit(nogil=True, cache=True)
def _add_rows(piece: int, pieces: Longs, start: Longs, column: Ints, x: Array, sums: Array) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        mine = sums[row]
        for t in range(start[row], start[row + 1]):
            other = x[column[t]]
            for k in range(len(mine)):
                mine[k] += other[k]


def add_product(rows: csr_array, weights: csr_array, scores: Floats) -> None:
    """Add rows @ weights to `scores`, shape (rows, columns of the weights)."""
    left, right = (side.astype(np.float32, copy=False) for side in (rows, weights))
    pieces = thread_pieces(left.indptr.astype(np.int64))
    over_pieces(
        _add_products,
        pieces,
        left.indptr,
        left.indices,
        left.data,
        right.indptr,
        right.indices,
        right.data,
        scores,
    )


@njit(nogil=True, cache=True)
def _add_products(
    piece: int,
    pieces: Longs,
    start: NDArray[np.int32],
    item: NDArray[np.int32],
    x: Floats,
    first: NDArray[np.int32],
    other: NDArray[np.int32],
    weight: Floats,
    scores: Floats,
) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        mine = scores[row]
        for t in range(start[row], start[row + 1]):
            for s in range(first[item[t]], first[item[t] + 1]):
                mine[other[s]] += x[t] * weight[s]
