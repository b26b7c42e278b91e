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

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]
Flags = NDArray[np.uint8]


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
    """For each row the most similar columns; nothing is similar to itself, or by exactly 0."""
    shape = (len(rows.code), wanted.k)
    near = Near(
        np.full(shape, -1, np.int32), np.zeros(shape), np.zeros(shape, np.int32),
        np.zeros(shape, np.int32),
    )  # fmt: skip
    _nearest(rows, columns, wanted, near, get_num_threads())
    return near


@njit(parallel=True, cache=True)
def _nearest(rows: Things, columns: Things, wanted: Wanted, near: Near, threads: int) -> None:
    n = len(rows.code)
    for thread in prange(threads):
        dots = np.zeros(len(columns.code), np.int64)
        counted = wanted.same or wanted.damping > 0
        counts = np.zeros(len(columns.code) if counted else 0, np.int64)
        for row in range(thread, n, threads):
            _add_up(rows, columns, row, dots, counts)
            _choose(rows, columns, row, wanted, dots, counts, near)
            dots[:] = 0
            counts[:] = 0


@njit(cache=True)
def _add_up(rows: Things, columns: Things, row: int, dots: Longs, counts: Longs) -> None:
    """Sums over the witnesses of a row: products in `dots`; 2^32 S + n in `counts`, if any."""
    for t in range(rows.start[row], rows.start[row + 1]):
        witness, x, like = rows.other[t], np.int64(rows.value[t]), rows.like[t]
        seen = range(columns.start[witness], columns.start[witness + 1])
        if len(counts) == 0:
            for c in seen:
                dots[columns.other[c]] += x * columns.value[c]
        else:
            for c in seen:
                dots[columns.other[c]] += x * columns.value[c]
                counts[columns.other[c]] += 1 + (np.int64(like == columns.like[c]) << 32)


@njit(cache=True)
def _choose(
    rows: Things, columns: Things, row: int, wanted: Wanted, dots: Longs, counts: Longs, near: Near
) -> None:
    last = wanted.k - 1
    for place in range(len(dots)):
        if dots[place] == 0 or columns.code[place] == rows.code[row]:
            continue
        count = counts[place] if len(counts) else 0
        same, both = count >> 32, count & 0xFFFFFFFF
        if wanted.same and same == 0:
            continue
        s = dots[place] / (rows.root[row] * columns.root[place])
        if wanted.damping > 0:
            s *= min(both, wanted.damping) / wanted.damping
        if near.code[row, last] < 0 or _rank(s, wanted) > _rank(near.s[row, last], wanted):
            _insert(near, row, wanted, columns.code[place], s, same, both)


@njit(cache=True)
def _rank(s: float, wanted: Wanted) -> float:
    return s if wanted.signed else abs(s)


@njit(cache=True)
def _insert(
    near: Near, row: int, wanted: Wanted, code: int, s: float, same: int, both: int
) -> None:
    """Put one in its place; columns come by ascending code, so an equal stays behind."""
    place = wanted.k - 1
    while place > 0 and (
        near.code[row, place - 1] < 0 or _rank(near.s[row, place - 1], wanted) < _rank(s, wanted)
    ):
        near.code[row, place] = near.code[row, place - 1]
        near.s[row, place] = near.s[row, place - 1]
        near.same[row, place] = near.same[row, place - 1]
        near.both[row, place] = near.both[row, place - 1]
        place -= 1
    near.code[row, place], near.s[row, place] = code, s
    near.same[row, place], near.both[row, place] = same, both


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
