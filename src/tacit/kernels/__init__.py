"""Compiled loops over arrays, independent of users, channels and models, in threads.

Rows are divided into pieces, one per thread. A kernel processes one piece without the interpreter's
lock, and Python's threads run the pieces. Numba's own parallel loops (`parallel=True`) optimize the
same code several times: a first run compiled 1.7 times as long.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

Longs = NDArray[np.int64]
ROW_COST = 30  # fixed cost of a row, in cells
LEAST_WORK = 4096
"""Fewest cells per thread; processing them takes about as long as starting the thread."""


def even_pieces(start: Longs, pieces: int) -> Longs:
    """Return boundaries of rows that divide the work about evenly, shape (pieces + 1,).

    Row r has the cells `start[r]` to `start[r + 1]`.
    """
    work = start - start[0] + ROW_COST * np.arange(len(start))
    ends = np.asarray(np.searchsorted(work, work[-1] * np.arange(pieces + 1) / pieces), np.int64)
    ends[0], ends[-1] = 0, len(start) - 1
    return ends


def thread_count(work: int) -> int:
    """Return the number of threads for `work` cells: at most Numba's, at least 1."""
    return max(1, min(get_num_threads(), work // LEAST_WORK))


def thread_pieces(start: Longs) -> Longs:
    """Return boundaries of rows, one piece per thread; as `even_pieces`."""
    work = int(start[-1] - start[0]) + ROW_COST * (len(start) - 1)
    return even_pieces(start, thread_count(work))


def equal_pieces(rows: int, cost: int) -> Longs:
    """Return boundaries of rows of `cost` cells each, one piece per thread."""
    return np.linspace(0, rows, thread_count(rows * cost) + 1).astype(np.int64)


def in_threads(kernel: Callable[..., object], count: int, *arguments: Any) -> None:
    """Call kernel(piece, *arguments) for the pieces 0 to `count` - 1 at once.

    The kernel must be compiled with `nogil`, and pieces must not write to the same place.
    """
    if count == 1:
        kernel(0, *arguments)
        return
    # Threads that end with the call: no pool has to survive a fork.
    with ThreadPoolExecutor(count - 1) as pool:
        others = [pool.submit(kernel, piece, *arguments) for piece in range(1, count)]
        kernel(0, *arguments)
        for other in others:
            other.result()


def over_pieces(kernel: Callable[..., object], pieces: Longs, *arguments: Any) -> None:
    """Call kernel(piece, pieces, *arguments) for all pieces at once; as `in_threads`.

    `pieces`: boundaries, as from `thread_pieces` or `equal_pieces`.
    """
    in_threads(kernel, len(pieces) - 1, pieces, *arguments)
