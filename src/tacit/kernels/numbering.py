"""Numbering of distinct 128-bit names in many rows, without Python objects."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

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
