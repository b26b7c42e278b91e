"""The k most similar of many things, by what each witness says of both: exact, in integers.

    s_ab = sum over witnesses of x_wa x_wb / (||x_a|| ||x_b||)

Items are compared by the people who rated both, people by the items that both rated. All sums are
of 64-bit integers, so neither the order of witnesses nor a cut into blocks can move a digit.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.prefetch import prefetch

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
Flags = NDArray[np.uint8]
AHEAD, LINE = 2, 16  # witnesses whose cells are asked for early; cells to a line of the cache


class Things(NamedTuple):
    """A block of things that are compared.

    `code`: ascending, shape (n,). `root`: ||x||, over all witnesses, shape (n,). `start`, `other`:
    cells grouped by thing, with their witnesses, for rows; or by witness, with the places of
    things in this block, for columns. `value`: x; `like`: whether it is at least the thing's mean.
    """

    code: Ints
    root: Doubles
    start: Longs
    other: Ints
    value: Ints
    like: Flags


class Wanted(NamedTuple):
    """`k` a row; `damping`: s counts min(n, damping) / damping, 0 for not at all; `signed`: the
    largest s, or else the largest |s|; `same`: only where some witness likes or dislikes both."""

    k: int
    damping: int = 0
    signed: bool = False
    same: bool = True


class Near(NamedTuple):
    """The most similar of each row, best first, ties by code; shape (rows, k).

    `code`: -1 where there are fewer. `s`: the similarity. `same`: by how many witnesses both are
    liked, or neither is (S); `both`: how many witnesses they share (n); both 0 where neither
    `same` nor `damping` is wanted, as counting takes time.
    """

    code: Ints
    s: Doubles
    same: Ints
    both: Ints


def nearest(rows: Things, columns: Things, wanted: Wanted) -> Near:
    """For each row the most similar columns; nothing is similar to itself, or by exactly 0.

    Rows and columns of the same codes are the same things: each sum is then made once for both.
    """
    threads = get_num_threads()
    if not np.array_equal(rows.code, columns.code):
        near = _none((len(rows.code), wanted.k))
        _nearest(rows, columns, columns.start[rows.other], wanted, near, threads)
        return near
    found = _none((threads, len(rows.code), wanted.k))
    _nearest_each_other(rows, columns, _after(rows, columns), wanted, found, threads)
    return best_of([taken(found, thread) for thread in range(threads)], wanted)


def _none(shape: tuple[int, ...]) -> Near:
    """Nothing found yet."""
    codes, counts = np.full(shape, -1, np.int32), np.zeros((2, *shape), np.int32)
    return Near(codes, np.zeros(shape), *counts)


@njit(parallel=True, cache=True)
def _nearest(
    rows: Things, columns: Things, first: Longs, wanted: Wanted, near: Near, threads: int
) -> None:
    n = len(rows.code)
    for thread in prange(threads):
        dots, counts = _zeros(columns, wanted)
        for row in range(thread, n, threads):
            _add_up(rows, columns, row, first, dots, counts)
            for place in range(len(dots)):
                if dots[place] != 0 and columns.code[place] != rows.code[row]:
                    s, same, both = _similarity(rows, columns, row, place, wanted, dots, counts)
                    _consider(near, row, wanted, columns.code[place], s, same, both)
            dots[:] = 0
            counts[:] = 0


@njit(parallel=True, cache=True, error_model="numpy")
def _nearest_each_other(
    rows: Things, columns: Things, first: Longs, wanted: Wanted, found: Near, threads: int
) -> None:
    """Into `found`, shape (threads, rows, k), what each thread has seen of the pairs."""
    n = len(rows.code)
    for thread in prange(threads):
        dots, counts = _zeros(columns, wanted)
        near = Near(found.code[thread], found.s[thread], found.same[thread], found.both[thread])
        bar, share = np.full(n, -np.inf), (1 + 1e-9) / columns.root
        for row in range(thread, n, threads):
            _add_up(rows, columns, row, first, dots, counts)
            for place in range(row + 1, n):
                # No rank is above this, and seldom is it above what has been found so far.
                most = abs(dots[place]) * share[row] * share[place]
                if most > min(bar[row], bar[place]) and dots[place] != 0:
                    s, same, both = _similarity(rows, columns, row, place, wanted, dots, counts)
                    if wanted.same and same == 0:
                        continue
                    rank = _rank(s, wanted)
                    if rank > bar[row]:
                        bar[row] = _insert(near, row, wanted, columns.code[place], s, same, both)
                    if rank > bar[place]:
                        bar[place] = _insert(near, place, wanted, columns.code[row], s, same, both)
            dots[row:] = 0
            counts[row:] = 0


@njit(cache=True)
def _zeros(columns: Things, wanted: Wanted) -> tuple[Longs, Longs]:
    n = len(columns.code)
    return np.zeros(n, np.int64), np.zeros(n if wanted.same or wanted.damping > 0 else 0, np.int64)


@njit(cache=True)
def _after(rows: Things, columns: Things) -> Longs:
    """Of each cell of the rows the place behind it among the columns' cells of its witness."""
    behind, after = columns.start.copy(), np.empty(len(rows.other), np.int64)
    for t in range(len(after)):
        behind[rows.other[t]] += 1
        after[t] = behind[rows.other[t]]
    return after


@njit(cache=True)
def _add_up(
    rows: Things, columns: Things, row: int, first: Longs, dots: Longs, counts: Longs
) -> None:
    """Sums over the witnesses of a row, of their cells from `first` on: products in `dots`; 2^32 S
    + n in `counts`, if any. Places are unsigned, as none is counted from the end."""
    stop = rows.start[row + 1]
    for t in range(rows.start[row], stop):
        soon = first[min(t + AHEAD, stop - 1)]
        for place in range(soon, soon + 2 * LINE, LINE):
            prefetch(columns.other, place)
            prefetch(columns.value, place)
        x, like = np.int64(rows.value[t]), rows.like[t]
        seen = range(np.uint64(first[t]), np.uint64(columns.start[rows.other[t] + 1]))
        if len(counts) == 0:
            for c in seen:
                dots[np.uint32(columns.other[c])] += x * columns.value[c]
        else:
            for c in seen:
                place = np.uint32(columns.other[c])
                dots[place] += x * columns.value[c]
                counts[place] += 1 + (np.int64(like == columns.like[c]) << 32)


@njit(cache=True)
def _similarity(
    rows: Things, columns: Things, row: int, place: int, wanted: Wanted, dots: Longs, counts: Longs
) -> tuple[float, int, int]:
    """s, S and n of a row and a column."""
    count = counts[place] if len(counts) else 0
    same, both = count >> 32, count & 0xFFFFFFFF
    s = dots[place] / (rows.root[row] * columns.root[place])
    if wanted.damping > 0:
        s *= min(both, wanted.damping) / wanted.damping
    return s, same, both


@njit(cache=True)
def _consider(
    near: Near, row: int, wanted: Wanted, code: int, s: float, same: int, both: int
) -> None:
    last = wanted.k - 1
    if wanted.same and same == 0:
        return
    if near.code[row, last] < 0 or _rank(s, wanted) > _rank(near.s[row, last], wanted):
        _insert(near, row, wanted, code, s, same, both)


@njit(cache=True)
def _rank(s: float, wanted: Wanted) -> float:
    return s if wanted.signed else abs(s)


@njit(cache=True)
def _insert(
    near: Near, row: int, wanted: Wanted, code: int, s: float, same: int, both: int
) -> float:
    """Put one in its place; they come by ascending code, so an equal stays behind. The rank that
    the next has to exceed."""
    codes, ranks, last = near.code[row], near.s[row], wanted.k - 1
    place, rank = last, _rank(s, wanted)
    while place > 0 and (codes[place - 1] < 0 or _rank(ranks[place - 1], wanted) < rank):
        place -= 1
    _put(codes, place, code)
    _put(ranks, place, s)
    if wanted.same or wanted.damping > 0:
        _put(near.same[row], place, same)
        _put(near.both[row], place, both)
    return _rank(ranks[last], wanted) if codes[last] >= 0 else -np.inf


@njit(cache=True)
def _put(numbers: Any, place: int, number: Any) -> None:
    """Put a number in its place, and what stands there and behind one further on."""
    for j in range(len(numbers) - 1, place, -1):
        numbers[j] = numbers[j - 1]
    numbers[place] = number


def best_of(parts: Sequence[Near], wanted: Wanted) -> Near:
    """The most similar out of several blocks of columns, for the same rows."""
    if len(parts) == 1:
        return parts[0]
    all_of = stacked(parts, axis=1)
    rank = np.where(all_of.code < 0, -np.inf, all_of.s if wanted.signed else np.abs(all_of.s))
    order = np.lexsort((all_of.code, -rank))[:, : wanted.k]
    return taken(all_of, (np.arange(len(order))[:, None], order))


def stacked(parts: Sequence[Near], axis: int = 0) -> Near:
    """Findings one after another."""
    return Near(
        np.concatenate([part.code for part in parts], axis),
        np.concatenate([part.s for part in parts], axis),
        np.concatenate([part.same for part in parts], axis),
        np.concatenate([part.both for part in parts], axis),
    )


def taken(near: Near, at: Any) -> Near:
    """The findings at an index of the arrays."""
    return Near(near.code[at], near.s[at], near.same[at], near.both[at])
