"""Gibbs draws of residual scales, and moves of prior weights.

Residual scale of each user's ratings, drawn from its conditional.

Given everything else, reports o of a user under the scale g, with a uniform prior, have

    Pr(g | the rest) ~ prod_c q(o_c | theta_c, g)

so that the g with the largest sum of log-likelihoods and a standard Gumbel number is a draw.

Likelihood, score and information of a move of one column of prior weights and its rows.

A row is x_r = f_r . w + z_r. If all z are fixed and w_k moves by m, theta moves by (f_r . m) y_ck,
with 1 for the y of the bias, and with s and J as in `tacit.kernels.gibbs_rows` there are

    the score   sum_r f_r sum_c s_c y_ck,     the information   sum_r f_r f_r' sum_c J_c y_ck^2.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import in_threads, over_pieces, thread_pieces
from tacit.kernels.als import in_vectors
from tacit.kernels.dense import FAST
from tacit.kernels.gibbs_rows import (
    GRAIN,
    HALF,
    Readings,
    ReportRows,
    Spreads,
    level_of,
    place_of,
    read,
)
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
    pieces = thread_pieces(cells.start)
    thetas = thetas._replace(design=in_vectors(thetas.design))
    over_pieces(_draw, pieces, cells, readings, thetas, gumbels.copy(), indices)
    return indices


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _draw(
    piece: int,
    pieces: NDArray[np.int64],
    cells: ReportRows,
    readings: Readings,
    thetas: Thetas,
    scores: NDArray[np.float64],
    indices: Spreads,
) -> None:
    width = thetas.design.shape[1]
    x = np.zeros((1, width), np.float32)
    for r in range(pieces[piece], pieces[piece + 1]):
        level = level_of(thetas.mu, thetas.rows[r], x)
        for t in range(cells.start[r], cells.start[r + 1]):
            taste = level + dot(x, 0, thetas.design, cells.other[t], width // LANES)
            position, symbol = place_of(readings, taste), np.int64(cells.symbol[t])
            for g in range(scores.shape[1]):
                scores[r, g] += read(readings.table, symbol + g * readings.symbols, position)[1]
        indices[r] = np.argmax(scores[r])


Ints = NDArray[np.int64]


class MovedRows(NamedTuple):
    """Rows with column `column` moved by f_r . `move`; the rest as in `Conditional`.

    `move`: shape (d,). `mu`: including the shifts of the biases of both sides.
    """

    column: int
    move: Floats
    mu: np.float32
    rows: Floats
    spreads: Spreads
    features: Floats
    design: Floats
    beside: Spreads


class WeightSums(NamedTuple):
    """Sums over reports in steps of 1 / `GRAIN`.

    `likelihood`: log-likelihood, shape (1,). `score`: shape (d,). `information`: lower triangle,
    shape (d, d), or zeros.
    """

    likelihood: Ints
    score: Ints
    information: Ints


def weight_sums(
    cells: ReportRows, readings: Readings, moved: MovedRows, *, informed: bool
) -> WeightSums:
    """Return the three sums; `information` is computed only if `informed`."""
    moved = moved._replace(design=in_vectors(moved.design))
    pieces = thread_pieces(cells.start)
    n, d = len(pieces) - 1, len(moved.move)
    shapes = ((n, 1), (n, d), (n, d, d))
    sums = [np.zeros(shape, np.int64) for shape in shapes]
    in_threads(_add_up, n, pieces, cells, readings, moved, informed, *sums)
    return WeightSums(*(each.sum(0) for each in sums))


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _add_up(
    piece: int,
    pieces: Ints,
    cells: ReportRows,
    readings: Readings,
    moved: MovedRows,
    informed: bool,
    likelihood: Ints,
    score: Ints,
    information: Ints,
) -> None:
    width = moved.design.shape[1]
    x = np.zeros((1, width), np.float32)
    for r in range(pieces[piece], pieces[piece + 1]):
        run, f = (cells.start[r], cells.start[r + 1]), moved.features[r]
        log, pull, weight = _of_row(run, cells, readings, moved, r, x)
        likelihood[piece, 0] += np.int64(np.rint(GRAIN * log))
        for j in range(len(f)):
            score[piece, j] += np.int64(np.rint(GRAIN * pull * f[j]))
            if informed:
                here = GRAIN * weight * f[j]
                for i in range(j + 1):
                    information[piece, j, i] += np.int64(np.rint(here * f[i]))


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _of_row(
    run: tuple[int, int], cells: ReportRows, readings: Readings, moved: MovedRows, r: int, x: Floats
) -> tuple[float, float, float]:
    """Return a row's log-likelihood and sums of s y and of J y^2 over its reports."""
    k, log, pull, weight = moved.column, 0.0, 0.0, 0.0
    level = level_of(moved.mu, moved.rows[r], x)
    for j in range(len(moved.move)):
        step = moved.features[r, j] * moved.move[j]
        if k:
            x[0, k] += step
        else:
            level += step
    for t in range(run[0], run[1]):
        column, centre = cells.other[t], cells.centre[t]
        position = place_of(readings, level + dot(x, 0, moved.design, column, len(x[0]) // LANES))
        spread = np.int64(moved.spreads[r]) + moved.beside[column]
        symbol = readings.symbols * spread + cells.symbol[t]
        slope, here = read(readings.table, symbol, position)
        root = readings.root[symbol, np.int16(position + HALF) if centre < 0 else centre]
        y = moved.design[column, k] if k else np.float32(1)
        log += here
        pull += slope * y
        weight += (root * y) ** 2
    return log, pull, weight
