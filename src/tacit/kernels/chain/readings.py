"""What a report says of a taste, read off a table: where a theta is on its grid, and what is there.

The table has a part for each spread that people may have, one after another with all symbols each.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.dense import FAST

Floats = NDArray[np.float32]
Spreads = NDArray[np.uint8]
"""The number of each row's spread, shape (rows,); 0 throughout on the side that has none."""
BEFORE_LAST = np.float32(1.001)


class ReportRows(NamedTuple):
    """The reports of a run of rows. Row r owns the positions `start[r]` to `start[r + 1]`.

    `other`: int32, the column of each. `symbol`: uint16, what was reported. `centre`: int16, the
    place of the grid whose information weighs it, or -1 where that is its theta's own.
    """

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    symbol: NDArray[np.uint16]
    centre: NDArray[np.int16]


class Readings(NamedTuple):
    """Of each symbol under each spread, at theta = origin + g / steps. `table`: score and
    log-likelihood, shape (spreads * symbols, grid, 2). `root`: of the information, shape
    (spreads * symbols, grid)."""

    table: Floats
    root: Floats
    origin: np.float32
    steps: np.float32
    symbols: int


@njit(cache=True, fastmath=FAST, inline="always")
def level_of(mu: Any, row: Floats, x: Floats) -> Any:
    """theta = level + x . y: what is the row's own, and `x`, that meets a bias with a one."""
    for k in range(1, len(row)):
        x[0, k] = row[k]
    x[0, 0] = 1
    return mu + row[0]


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def place_of(readings: Readings, theta: Any) -> Any:
    """Where theta is on the grid, in steps."""
    # Single precision even where an engine sent its workers Python's own floats.
    place = (theta - np.float32(readings.origin)) * np.float32(readings.steps)
    return min(max(place, np.float32(0)), np.float32(readings.root.shape[1]) - BEFORE_LAST)


@njit(cache=True, fastmath=FAST, inline="always")
def read(table: Floats, symbol: Any, place: Any) -> Any:
    """Score and log-likelihood between two points of the grid."""
    g = np.int32(place)
    on = place - np.float32(g)
    score, log = table[symbol, g, 0], table[symbol, g, 1]
    up, over = table[symbol, g + 1, 0], table[symbol, g + 1, 1]
    return score + on * (up - score), log + on * (over - log)
