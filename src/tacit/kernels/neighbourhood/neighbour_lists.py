"""Insertion of candidates into the lists of nearest neighbours of an earlier search."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.neighbourhood.search_results import Near, Wanted, put, rank_of

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class NeighbourLists(NamedTuple):
    """Lists of neighbours to insert candidates into.

    `near`: the lists, best first, ties by code. `complete`: whether a list contains all earlier
    candidates, shape (rows,). If not, candidates behind its last entry are ignored. A list without
    room is not complete any more.
    """

    near: Near
    complete: NDArray[np.bool_]


def insert(lists: NeighbourLists, at: Longs, offers: Near, columns: Longs, wanted: Wanted) -> None:
    """Insert candidates into the lists `at`. `offers`: candidates, -1 for none; those of a list are
    in its column of `columns`."""
    _insert_all(lists, at, offers, columns, wanted)


@njit(cache=True)
def _insert_all(
    lists: NeighbourLists, at: Longs, offers: Near, columns: Longs, wanted: Wanted
) -> None:
    for n in range(len(at)):
        row, column = at[n], columns[n]
        bar = _bar(lists, row, wanted)
        for candidate in range(len(offers.code)):
            rank = rank_of(offers.s[candidate, column], wanted)
            if offers.code[candidate, column] >= 0 and rank >= bar:
                _insert_one(lists, row, offers, candidate, column, wanted)
                bar = _bar(lists, row, wanted)


@njit(cache=True)
def _bar(lists: NeighbourLists, row: int, wanted: Wanted) -> float:
    """Return the least rank of a candidate that a list may take."""
    length = _length(lists.near.code[row])
    if lists.complete[row]:
        return -np.inf
    return rank_of(lists.near.s[row, length - 1], wanted) if length else np.inf


@njit(cache=True)
def _length(codes: Ints) -> int:
    length = len(codes)
    while length > 0 and codes[length - 1] < 0:
        length -= 1
    return length


@njit(cache=True)
def _insert_one(
    lists: NeighbourLists, row: int, offers: Near, candidate: int, column: int, wanted: Wanted
) -> None:
    code, s = offers.code[candidate, column], offers.s[candidate, column]
    codes, ranks = lists.near.code[row], lists.near.s[row]
    length, rank = _length(codes), rank_of(s, wanted)
    index = length
    while index > 0:
        before = rank_of(ranks[index - 1], wanted)
        if before > rank or (before == rank and codes[index - 1] < code):
            break
        index -= 1
    if index == length and not lists.complete[row]:
        return
    if length >= len(codes) - 1:
        lists.complete[row] = False
    if index < len(codes):
        put(codes, index, code)
        put(ranks, index, s)
        put(lists.near.same[row], index, offers.same[candidate, column])
        put(lists.near.both[row], index, offers.both[candidate, column])
