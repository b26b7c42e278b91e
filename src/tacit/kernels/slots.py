"""Slots in bulk: which of many answers are reports, taken out without laying more than a block."""

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Symbols = NDArray[np.unsignedinteger[Any]]


@njit(parallel=True, cache=True)
def count_reported(symbols: Symbols, silent: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """counts[p] = how many of `symbols[p]` (people, slots) differ from `silent[p]`."""
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
    """Slot numbers and symbols that differ from `silent[p]`, person p's from `starts[p]` on."""
    for p in prange(len(symbols)):
        place = starts[p]
        for slot in range(symbols.shape[1]):
            if symbols[p, slot] != silent[p]:
                slots[place] = slot
                kept[place] = symbols[p, slot]
                place += 1
