"""The k most similar of many items or users, by their common witnesses: exact, in integers.

    s_ab = sum over witnesses of x_wa x_wb / (||x_a|| ||x_b||)

Items are compared by the users who rated both, users by the items that both rated. All sums are of
64-bit integers, so results do not depend on the order of witnesses or on blocks.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import in_threads, thread_count
from tacit.kernels.layout import Side
from tacit.kernels.neighbourhood.search_results import (
    Near,
    Wanted,
    best_of,
    consider,
    insert,
    nothing,
    rank_of,
    taken,
)
from tacit.kernels.tile import prefetch

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
Flags = NDArray[np.uint8]
AHEAD, LINE = 2, 16  # prefetch distance in witnesses; cells per cache line


class Things(NamedTuple):
    """A block of items or users to compare.

    `code`: ascending, shape (n,). `root`: ||x||, over all witnesses, shape (n,). `start`, `other`:
    for rows, cells grouped by item or user, with their witnesses; for columns, cells grouped by
    witness, with indices into this block. `value`: x. `like`: whether it is at least the row's
    mean.
    """

    code: Ints
    root: Doubles
    start: Longs
    other: Ints
    value: Ints
    like: Flags


def selected(
    witnesses: Side, index: Ints, value: Ints, like: Flags
) -> tuple[Longs, Ints, Ints, Flags]:
    """Return the cells of some columns by witness, as `Things` has them.

    `witnesses`, `value`, `like`: all cells by witness. `index`: of each column in the block, -1 for
    others. Returns start, index, value and like of the cells.
    """
    start = np.zeros(len(witnesses.start), np.int64)
    _count(witnesses.start, witnesses.other, index, start)
    cells = int(start[-1])
    other, some = np.empty(cells, np.int32), (np.empty(cells, np.int32), np.empty(cells, np.uint8))
    _select(witnesses.start, witnesses.other, index, value, like, other, *some)
    return start, other, *some


@njit(cache=True)
def _count(start: Longs, thing: Ints, index: Ints, counts: Longs) -> None:
    """Write the number of selected cells before each witness."""
    for witness in range(len(start) - 1):
        count = counts[witness]
        for cell in range(start[witness], start[witness + 1]):
            count += index[thing[cell]] >= 0
        counts[witness + 1] = count


@njit(cache=True)
def _select(
    start: Longs, thing: Ints, index: Ints, value: Ints, like: Flags,
    other: Ints, values: Ints, likes: Flags,
) -> None:  # fmt: skip
    """Write the selected cells."""
    n = 0
    for cell in range(start[-1]):
        at = index[thing[cell]]
        if at >= 0:
            other[n], values[n], likes[n] = at, value[cell], like[cell]
            n += 1


def nearest(rows: Things, columns: Things, wanted: Wanted) -> Near:
    """Return the most similar columns of each row, except itself and similarities of exactly 0.

    Rows and columns with the same codes are the same: each sum is then computed once for both.
    """
    threads = thread_count(len(rows.other) * len(columns.code))
    if not np.array_equal(rows.code, columns.code):
        near = nothing((len(rows.code), wanted.k))
        first = columns.start[rows.other]
        in_threads(_nearest, threads, threads, rows, columns, first, wanted, near)
        return near
    result = nothing((threads, len(rows.code), wanted.k))
    first = _after(rows, columns)
    in_threads(_nearest_each_other, threads, threads, rows, columns, first, wanted, result)
    return best_of([taken(result, thread) for thread in range(threads)], wanted)


def between(rows: Things, columns: Things, wanted: Wanted) -> Near:
    """Return all columns of each row that `nearest` would consider, in their order.

    Shape (rows, columns), with the code -1 for others. Memory is proportional to that.
    """
    near = nothing((len(rows.code), len(columns.code)))
    _between(rows, columns, columns.start[rows.other], wanted, near)
    return near


@njit(cache=True)
def _between(rows: Things, columns: Things, first: Longs, wanted: Wanted, near: Near) -> None:
    for row in range(len(rows.code)):
        _candidates(row, rows, columns, first, wanted, near)


@njit(cache=True)
def _candidates(
    row: int, rows: Things, columns: Things, first: Longs, wanted: Wanted, near: Near
) -> None:
    dots, counts = _zeros(columns, wanted)
    _add_up(rows, columns, row, first, dots, counts)
    for index in range(len(dots)):
        if dots[index] != 0 and columns.code[index] != rows.code[row]:
            s, same, both = _similarity(rows, columns, row, index, wanted, dots, counts)
            if same > 0 or not wanted.same:
                near.code[row, index] = columns.code[index]
                near.s[row, index] = s
                near.same[row, index] = same
                near.both[row, index] = both


@njit(nogil=True, cache=True)
def _nearest(
    thread: int,
    threads: int,
    rows: Things,
    columns: Things,
    first: Longs,
    wanted: Wanted,
    near: Near,
) -> None:
    n = len(rows.code)
    dots, counts = _zeros(columns, wanted)
    for row in range(thread, n, threads):
        _add_up(rows, columns, row, first, dots, counts)
        for index in range(len(dots)):
            if dots[index] != 0 and columns.code[index] != rows.code[row]:
                s, same, both = _similarity(rows, columns, row, index, wanted, dots, counts)
                consider(near, row, wanted, columns.code[index], s, same, both)
        dots[:] = 0
        counts[:] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def _nearest_each_other(
    thread: int,
    threads: int,
    rows: Things,
    columns: Things,
    first: Longs,
    wanted: Wanted,
    result: Near,
) -> None:
    """Compute each thread's result of the pairs into `result`, shape (threads, rows, k)."""
    n = len(rows.code)
    dots, counts = _zeros(columns, wanted)
    near = Near(result.code[thread], result.s[thread], result.same[thread], result.both[thread])
    bar, share = np.full(n, -np.inf), (1 + 1e-9) / columns.root
    for row in range(thread, n, threads):
        _add_up(rows, columns, row, first, dots, counts)
        for index in range(row + 1, n):
            # An upper bound on the rank, rarely above the current results.
            most = abs(dots[index]) * share[row] * share[index]
            if most > min(bar[row], bar[index]) and dots[index] != 0:
                s, same, both = _similarity(rows, columns, row, index, wanted, dots, counts)
                if wanted.same and same == 0:
                    continue
                rank = rank_of(s, wanted)
                if rank > bar[row]:
                    bar[row] = insert(near, row, wanted, columns.code[index], s, same, both)
                if rank > bar[index]:
                    bar[index] = insert(near, index, wanted, columns.code[row], s, same, both)
        dots[row:] = 0
        counts[row:] = 0


@njit(cache=True)
def _zeros(columns: Things, wanted: Wanted) -> tuple[Longs, Longs]:
    n = len(columns.code)
    return np.zeros(n, np.int64), np.zeros(n if wanted.same or wanted.damping > 0 else 0, np.int64)


@njit(cache=True)
def _after(rows: Things, columns: Things) -> Longs:
    """Return, for each cell of the rows, the position behind it among its witness's columns."""
    behind, after = columns.start.copy(), np.empty(len(rows.other), np.int64)
    for t in range(len(after)):
        behind[rows.other[t]] += 1
        after[t] = behind[rows.other[t]]
    return after


@njit(cache=True)
def _add_up(
    rows: Things, columns: Things, row: int, first: Longs, dots: Longs, counts: Longs
) -> None:
    """Sum over the witnesses of a row, from `first` on.

    Products in `dots`; 2^32 S + n in `counts`, if any. Indices are unsigned, as none is negative.
    """
    stop = rows.start[row + 1]
    for t in range(rows.start[row], stop):
        soon = first[min(t + AHEAD, stop - 1)]
        for index in range(soon, soon + 2 * LINE, LINE):
            prefetch(columns.other, index)
            prefetch(columns.value, index)
        x, like = np.int64(rows.value[t]), rows.like[t]
        seen = range(np.uint64(first[t]), np.uint64(columns.start[rows.other[t] + 1]))
        if len(counts) == 0:
            for c in seen:
                dots[np.uint32(columns.other[c])] += x * columns.value[c]
        else:
            for c in seen:
                index = np.uint32(columns.other[c])
                dots[index] += x * columns.value[c]
                counts[index] += 1 + (np.int64(like == columns.like[c]) << 32)


@njit(cache=True)
def _similarity(
    rows: Things, columns: Things, row: int, index: int, wanted: Wanted, dots: Longs, counts: Longs
) -> tuple[float, int, int]:
    """Return s, S and n of a row and a column."""
    count = counts[index] if len(counts) else 0
    same, both = count >> 32, count & 0xFFFFFFFF
    s = dots[index] / (rows.root[row] * columns.root[index])
    if wanted.damping > 0:
        s *= min(both, wanted.damping) / wanted.damping
    return s, same, both
