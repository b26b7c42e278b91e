"""Results of a search for similar items or users: the k best columns of each row, and merging.

Candidates arrive by ascending code, and ties are broken by code: results do not depend on blocks.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Doubles = NDArray[np.float64]


class Wanted(NamedTuple):
    """Settings of a search.

    `k`: neighbours per row. `damping`: s is multiplied by min(n, damping) / damping, 0 for none.
    `signed`: rank by s instead of |s|. `same`: require a witness who likes or dislikes both.
    """

    k: int
    damping: int = 0
    signed: bool = False
    same: bool = True


class Near(NamedTuple):
    """Most similar columns of each row, best first, ties by code; shape (rows, k).

    `code`: padded with -1. `s`: similarity. `same`: S, the number of witnesses who like both or
    neither. `both`: n, the number of common witnesses. Both are 0 unless `same` or `damping` is
    set, as counting takes time.
    """

    code: Ints
    s: Doubles
    same: Ints
    both: Ints


def nothing(shape: tuple[int, ...]) -> Near:
    """Return a result of that shape without any column."""
    codes, counts = np.full(shape, -1, np.int32), np.zeros((2, *shape), np.int32)
    return Near(codes, np.zeros(shape), *counts)


@njit(cache=True)
def consider(
    near: Near, row: int, wanted: Wanted, code: int, s: float, same: int, both: int
) -> None:
    """Insert a candidate if it is one of the k best of its row so far."""
    last = wanted.k - 1
    if wanted.same and same == 0:
        return
    if near.code[row, last] < 0 or rank_of(s, wanted) > rank_of(near.s[row, last], wanted):
        insert(near, row, wanted, code, s, same, both)


@njit(cache=True)
def rank_of(s: float, wanted: Wanted) -> float:
    """Return s, or its magnitude if signs are ignored."""
    return s if wanted.signed else abs(s)


@njit(cache=True)
def insert(
    near: Near, row: int, wanted: Wanted, code: int, s: float, same: int, both: int
) -> float:
    """Insert a candidate; candidates arrive by ascending code, so ties stay behind.

    Returns the rank that the next one has to exceed.
    """
    codes, ranks, last = near.code[row], near.s[row], wanted.k - 1
    index, rank = last, rank_of(s, wanted)
    while index > 0 and (codes[index - 1] < 0 or rank_of(ranks[index - 1], wanted) < rank):
        index -= 1
    put(codes, index, code)
    put(ranks, index, s)
    if wanted.same or wanted.damping > 0:
        put(near.same[row], index, same)
        put(near.both[row], index, both)
    return rank_of(ranks[last], wanted) if codes[last] >= 0 else -np.inf


@njit(cache=True)
def put(numbers: Any, index: int, number: Any) -> None:
    """Insert a number at an index, and shift the following ones."""
    for j in range(len(numbers) - 1, index, -1):
        numbers[j] = numbers[j - 1]
    numbers[index] = number


def best_of(parts: Sequence[Near], wanted: Wanted) -> Near:
    """Merge the results of several blocks of columns, for the same rows."""
    if len(parts) == 1:
        return parts[0]
    all_of = stacked(parts, axis=1)
    rank = np.where(all_of.code < 0, -np.inf, all_of.s if wanted.signed else np.abs(all_of.s))
    order = np.lexsort((all_of.code, -rank))[:, : wanted.k]
    return taken(all_of, (np.arange(len(order))[:, None], order))


def stacked(parts: Sequence[Near], axis: int = 0) -> Near:
    """Concatenate results."""
    return Near(
        np.concatenate([part.code for part in parts], axis),
        np.concatenate([part.s for part in parts], axis),
        np.concatenate([part.same for part in parts], axis),
        np.concatenate([part.both for part in parts], axis),
    )


def taken(near: Near, at: Any) -> Near:
    """Return the results at an index of the arrays."""
    return Near(near.code[at], near.s[at], near.same[at], near.both[at])
