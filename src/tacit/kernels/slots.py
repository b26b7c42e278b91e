"""Extraction of reports from drawn symbols of many slots, in bounded memory."""

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Symbols = NDArray[np.unsignedinteger[Any]]


@njit(parallel=True, cache=True)
def count_reported(symbols: Symbols, silent: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Compute counts[p] = number of `symbols[p]` (users, slots) that differ from `silent[p]`.

    `silent` and `counts`: shape (users,).
    """
    for p in prange(len(symbols)):
        count = 0
        for symbol in symbols[p]:
            count += symbol != silent[p]
        counts[p] = count


@njit(parallel=True, cache=True)
def take_reported(
    symbols: Symbols,
    silent: NDArray[np.int64],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    reported: Symbols,
) -> None:
    """Write slot numbers and symbols that differ from `silent[p]`, user p's from `starts[p]` on.

    `starts`: shape (users,); `slots` and `reported`: (reports,).
    """
    for p in prange(len(symbols)):
        # Always written, reported or not: an unpredictable branch is slower.
        mine = np.empty(symbols.shape[1] + 1, np.int32)
        count = 0
        for slot in range(symbols.shape[1]):
            mine[count] = slot
            count += symbols[p, slot] != silent[p]
        for k in range(count):
            slots[starts[p] + k] = mine[k]
            reported[starts[p] + k] = symbols[p, mine[k]]
