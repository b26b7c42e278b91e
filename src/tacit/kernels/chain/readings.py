"""Lookup of a report's score and likelihood in a table on a grid of theta.

The table has one block of all symbols per residual scale, one after another.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.dense import FAST

Floats = NDArray[np.float32]
Spreads = NDArray[np.uint8]
"""Index of each row's residual scale, shape (rows,); 0 on a side without scales."""
BEFORE_LAST = np.float32(1.001)


class ReportRows(NamedTuple):
    """Reports of a run of rows. Row r has the positions `start[r]` to `start[r + 1]`.

    `other`: int32, column of each. `symbol`: uint16, reported symbol. `centre`: int16, grid index
    of the information that weighs it, or -1 for that of its theta.
    """

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    symbol: NDArray[np.uint16]
    centre: NDArray[np.int16]


class Readings(NamedTuple):
    """Tables of each symbol under each residual scale, at theta = origin + g / steps.

    `table`: score and log-likelihood, shape (spreads * symbols, grid, 2). `root`: square root of
    the information, shape (spreads * symbols, grid).
    """

    table: Floats
    root: Floats
    origin: np.float32
    steps: np.float32
    symbols: int


@njit(cache=True, fastmath=FAST, inline="always")
def level_of(mu: Any, row: Floats, x: Floats) -> Any:
    """Return the level in theta = level + x . y, and fill `x`, whose 1 multiplies the bias."""
    for k in range(1, len(row)):
        x[0, k] = row[k]
    x[0, 0] = 1
    return mu + row[0]


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def place_of(readings: Readings, theta: Any) -> Any:
    """Return theta's position on the grid, in steps."""
    # Single precision even if an engine sent Python floats to its workers.
    position = (theta - np.float32(readings.origin)) * np.float32(readings.steps)
    return min(max(position, np.float32(0)), np.float32(readings.root.shape[1]) - BEFORE_LAST)


@njit(cache=True, fastmath=FAST, inline="always")
def read(table: Floats, symbol: Any, position: Any) -> Any:
    """Interpolate score and log-likelihood between two grid points."""
    g = np.int32(position)
    on = position - np.float32(g)
    score, log = table[symbol, g, 0], table[symbol, g, 1]
    up, over = table[symbol, g + 1, 0], table[symbol, g + 1, 1]
    return score + on * (up - score), log + on * (over - log)
