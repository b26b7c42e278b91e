"""Random sign projection over the item axis, computed on the fly and never stored.

Row `seed` of the projection has the sign s(seed, item) at each item: a bit of a public hash (the
finalizer of SplitMix64), so that the seed determines the row.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import Longs, equal_pieces, over_pieces, thread_pieces
from tacit.kernels.foldin import Home
from tacit.kernels.layout import Side

Doubles = NDArray[np.float64]
Seeds = NDArray[np.uint64]
Columns = NDArray[np.int64]
BLOCK = 64  # signs per word of the hash
STRIDE = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def word(seed: np.uint64, block: int) -> np.uint64:
    """Return the signs of items 64 block to 64 block + 63, lowest bit first."""
    z = seed + np.uint64(block) * STRIDE
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def sign(seed: np.uint64, item: int) -> float:
    """Return s(seed, item), 1 or -1."""
    bit = word(seed, item // BLOCK) >> np.uint64(item % BLOCK) & np.uint64(1)
    return 1.0 if bit else -1.0


def projected(
    side: Side, ratings: Doubles, home: Home, rows: Doubles, columns: Columns, seeds: Seeds
) -> Doubles:
    """Return sum_i s(seed_u, i) g_uil over u's own ratings i, for u's column l; shape (users,).

    g_ui = -2 (r_ui - theta_ui) (1, p_u) is the gradient of the squared error by the row (b_i, q_i),
    and `rows` (users, 1 + K) are (b_u, p_u). `ratings`: shape (n,), in the order of `side`.
    """
    entries = np.zeros(len(rows))
    pieces = thread_pieces(side.start)
    over_pieces(_add_entries, pieces, side, ratings, home, rows, columns, seeds, entries)
    return entries


@njit(nogil=True, cache=True)
def _add_entries(
    piece: int,
    pieces: Longs,
    side: Side,
    ratings: Doubles,
    home: Home,
    rows: Doubles,
    columns: Columns,
    seeds: Seeds,
    entries: Doubles,
) -> None:
    for u in range(pieces[piece], pieces[piece + 1]):
        column = columns[u]
        slope = 1.0 if column == 0 else rows[u, column]
        for t in range(side.start[u], side.start[u + 1]):
            item = side.other[t]
            theta = home.mu + rows[u, 0] + home.items[item, 0]
            for k in range(1, rows.shape[1]):
                theta += rows[u, k] * home.items[item, k]
            entries[u] -= 2 * sign(seeds[u], item) * (ratings[t] - theta) * slope


def lifted(values: Doubles, columns: Columns, seeds: Seeds, shape: tuple[int, int]) -> Doubles:
    """Return sum_u s(seed_u, i) values_u over the reports of column l, of shape (items, 1 + K)."""
    blocks = -(-shape[0] // BLOCK)
    lifted = np.zeros((blocks * BLOCK, shape[1]))
    pieces = equal_pieces(blocks, BLOCK * len(values))
    over_pieces(_add_lifted, pieces, values, columns, seeds, lifted)
    return lifted[: shape[0]]


@njit(nogil=True, cache=True)
def _add_lifted(
    piece: int, pieces: Longs, values: Doubles, columns: Columns, seeds: Seeds, lifted: Doubles
) -> None:
    for block in range(pieces[piece], pieces[piece + 1]):
        for u in range(len(values)):
            bits = word(seeds[u], block)
            for j in range(BLOCK):
                up = bits >> np.uint64(j) & np.uint64(1)
                lifted[block * BLOCK + j, columns[u]] += values[u] if up else -values[u]
