"""Slots in bulk: which of many answers are reports, taken out without laying more than a block."""

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Symbols = NDArray[np.unsignedinteger[Any]]


@njit(parallel=True, cache=True)
def count_reported(symbols: Symbols, silent: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """counts[p] = how many of `symbols[p]` (people, slots) differ from `silent[p]`.

    `silent` and `counts`: shape (people,).
    """
    for p in prange(len(symbols)):
        found = 0
        for symbol in symbols[p]:
            found += symbol != silent[p]
        counts[p] = found


@njit(parallel=True, cache=True)
def take_reported(
    symbols: Symbols,
    silent: NDArray[np.int64],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    kept: Symbols,
) -> None:
    """Slot numbers and symbols that differ from `silent[p]`, person p's from `starts[p]` on.

    `starts`: shape (people,); `slots` and `kept`: (reports,).
    """
    for p in prange(len(symbols)):
        # Written whether it is a report or not: a branch that nobody can foretell is dearer.
        mine = np.empty(symbols.shape[1] + 1, np.int32)
        found = 0
        for slot in range(symbols.shape[1]):
            mine[found] = slot
            found += symbols[p, slot] != silent[p]
        for k in range(found):
            slots[starts[p] + k] = mine[k]
            kept[starts[p] + k] = symbols[p, mine[k]]
