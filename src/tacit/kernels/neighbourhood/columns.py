"""Columns of centred ratings, in integers: centring by raters, sums per item, and fingerprints.

    x_ui = (r_ui - mean of u), in 2^-shift of a point, rounded half up

All sums are of 64-bit integers, so results do not depend on the order of rows.

Fingerprints find the columns that changed between two data sets.

    f_i = sum over the raters u of i of mix(name_u, x_ui, like_ui)   modulo 2^64

in two independent words. Raters are identified by name, so that new ones do not change other
columns. Columns that differ have the same fingerprint with a probability of about 2^-128, unless
they were constructed to.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class ItemSums(NamedTuple):
    """Sums per item: of points, and of squares of centred values, exact and in doubles.

    Doubles do not overflow, and show whether the exact sum does.
    """

    points: Longs
    squares: Longs
    about: NDArray[np.float64]


def centre(points: Longs, owner: Ints, counts: Longs, shift: int) -> Ints:
    """Return centred points, shape (n,). `counts`: rows of each owner, shape (owners,)."""
    totals, values = np.zeros(len(counts), np.int64), np.empty(len(points), np.int32)
    _centre(points, owner, counts, shift, totals, values)
    return values


@njit(cache=True)
def _centre(
    points: Longs, owner: Ints, counts: Longs, shift: int, totals: Longs, values: Ints
) -> None:
    for row in range(len(points)):
        totals[owner[row]] += points[row]
    for row in range(len(points)):
        n = counts[owner[row]]
        above = points[row] * n - totals[owner[row]]
        values[row] = ((above << (shift + 1)) + n) // (2 * n)


def item_sums(item: Ints, points: Longs, values: Ints, n: int) -> ItemSums:
    """Return the sums of n items. `item`, `points`, `values`: shape (rows,)."""
    sums = ItemSums(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n))
    _add(item, points, values, sums.points, sums.squares, sums.about)
    return sums


@njit(cache=True)
def _add(
    item: Ints, points: Longs, values: Ints, totals: Longs, squares: Longs,
    about: NDArray[np.float64],
) -> None:  # fmt: skip
    for row in range(len(item)):
        value = np.int64(values[row])
        totals[item[row]] += points[row]
        squares[item[row]] += value * value
        about[item[row]] += float(value) * float(value)


def likes(item: Ints, points: Longs, counts: Longs, totals: Longs) -> NDArray[np.uint8]:
    """Return whether each rating is at least the mean of its item, whose ratings are counted and
    summed in `counts` and `totals`."""
    like = np.empty(len(item), np.uint8)
    _like(item, points, counts, totals, like)
    return like


@njit(cache=True)
def _like(item: Ints, points: Longs, counts: Longs, totals: Longs, like: NDArray[np.uint8]) -> None:
    for row in range(len(item)):
        like[row] = points[row] * counts[item[row]] >= totals[item[row]]


Words = NDArray[np.uint64]
STEP, FIRST, SECOND, OTHER = (
    np.uint64(word)
    for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)
)
LEFT, MIDDLE, RIGHT = np.uint64(30), np.uint64(27), np.uint64(31)


def fingerprints(
    witnesses: Side, names: Words, value: NDArray[Any], like: NDArray[Any], n: int
) -> Words:
    """Return the fingerprint of each of n columns, shape (n, 2).

    `witnesses`: cells by witness. `names`: a word per witness. `value`, `like`: of each cell.
    """
    sums = np.zeros((n, 2), np.uint64)
    _add_words(witnesses.start, witnesses.other, names, value, like, sums)
    return sums


@njit(cache=True)
def _add_words(start: Any, thing: Any, names: Words, value: Any, like: Any, sums: Words) -> None:
    for witness in range(len(names)):
        for cell in range(start[witness], start[witness + 1]):
            word = names[witness] + STEP * np.uint64(2 * np.int64(value[cell]) + like[cell])
            word = _mixed(word)
            sums[thing[cell], 0] += word
            sums[thing[cell], 1] += _mixed(word ^ OTHER)


@njit(cache=True)
def _mixed(word: Any) -> Any:
    """Mix the bits of a word (SplitMix64, Steele, Lea and Flood 2014)."""
    word = (word ^ (word >> LEFT)) * FIRST
    word = (word ^ (word >> MIDDLE)) * SECOND
    return word ^ (word >> RIGHT)
