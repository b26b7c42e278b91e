"""Residual scale of each user's ratings, drawn from its conditional.

Given everything else, reports o of a user under the scale g, with a uniform prior, have

    Pr(g | the rest) ~ prod_c q(o_c | theta_c, g)

so that the g with the largest sum of log-likelihoods and a standard Gumbel number is a draw.
"""

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.als import in_vectors
from tacit.kernels.chain.readings import (
    Readings,
    ReportRows,
    Spreads,
    level_of,
    place_of,
    read,
)
from tacit.kernels.dense import FAST
from tacit.kernels.layout import even_pieces
from tacit.kernels.tile import LANES, dot

Floats = NDArray[np.float32]


class Thetas(NamedTuple):
    """theta = mu + x[0] + y[0] + x[1:] . y[1:].

    x is in `rows`, shape (rows, W), y in `design`, shape (columns, W).
    """

    mu: np.float32
    rows: Floats
    design: Floats


def drawn_spreads(
    cells: ReportRows, readings: Readings, thetas: Thetas, gumbels: NDArray[np.float64]
) -> Spreads:
    """Return the scale index of each row. `gumbels`: shape (rows, spreads)."""
    indices = np.empty(len(thetas.rows), np.uint8)
    pieces = even_pieces(cells.start, get_num_threads())
    thetas = thetas._replace(design=in_vectors(thetas.design))
    _draw(pieces, cells, readings, thetas, gumbels.copy(), indices)
    return indices


@njit(parallel=True, cache=True, fastmath=FAST, error_model="numpy")
def _draw(
    pieces: NDArray[np.int64],
    cells: ReportRows,
    readings: Readings,
    thetas: Thetas,
    scores: NDArray[np.float64],
    indices: Spreads,
) -> None:
    width = thetas.design.shape[1]
    for piece in prange(len(pieces) - 1):
        x = np.zeros((1, width), np.float32)
        for r in range(pieces[piece], pieces[piece + 1]):
            level = level_of(thetas.mu, thetas.rows[r], x)
            for t in range(cells.start[r], cells.start[r + 1]):
                taste = level + dot(x, 0, thetas.design, cells.other[t], width // LANES)
                position, symbol = place_of(readings, taste), np.int64(cells.symbol[t])
                for g in range(scores.shape[1]):
                    scores[r, g] += read(readings.table, symbol + g * readings.symbols, position)[1]
            indices[r] = np.argmax(scores[r])
