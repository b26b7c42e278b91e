"""Weighted-ALS half-step of all least-squares models.

    min_X  sum over cells (r, c)  w_rc (target_rc - offset_c - x_r . y_c)^2  +  sum_r x_r' R x_r

with R = diag(ridge). Row r solves (sum_c w_rc y_c y_c' + R) x_r = sum_c w_rc (target_rc - offset_c)
y_c. Data are float32; a row's sums are over its cells only, so float32 suffices. If the ridge is
too small to make the matrix regular in float32, the row of least norm is computed in float64.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import in_threads, over_pieces, thread_count, thread_pieces
from tacit.kernels.dense import (
    FAST,
    add_gram,
    add_rows,
    factor,
    padded,
    solve_lower,
    solve_transposed,
)
from tacit.kernels.layout import Side
from tacit.kernels.tile import LANES, scale

# Normal equations, row by row: Gram matrices, and exact integer right-hand sides.

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]


def grams(side: Side, design: Doubles) -> Doubles:
    """Return sum_c y_c y_c' over the cells of each row; `design` (columns, K) to (rows, K, K)."""
    K, pieces = design.shape[1], thread_pieces(side.start)
    matrices = np.zeros((len(side.start) - 1, K, K))
    over_pieces(_add_grams, pieces, side, design, matrices)
    return matrices


@njit(nogil=True, cache=True)
def _add_grams(piece: int, pieces: Longs, side: Side, design: Doubles, matrices: Doubles) -> None:
    K = design.shape[1]
    for row in range(pieces[piece], pieces[piece + 1]):
        for position in range(side.start[row], side.start[row + 1]):
            y = design[side.other[position]]
            for a in range(K):
                for b in range(a + 1):
                    matrices[row, a, b] += y[a] * y[b]
        for a in range(K):
            for b in range(a):
                matrices[row, b, a] = matrices[row, a, b]


def integer_sums(side: Side, design: Longs, values: Longs) -> Longs:
    """Return sum_c value_c y_c over the cells of each row, in integers; (rows, K).

    `values`: canonical cell order. Integer sums are identical in any order.
    """
    totals = np.zeros((len(side.start) - 1, design.shape[1]), np.int64)
    pieces = thread_pieces(side.start)
    over_pieces(_add_integers, pieces, side, design, values, totals)
    return totals


@njit(nogil=True, cache=True)
def _add_integers(
    piece: int, pieces: Longs, side: Side, design: Longs, values: Longs, totals: Longs
) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        for position in range(side.start[row], side.start[row + 1]):
            value = values[side.cell[position]]
            y = design[side.other[position]]
            for a in range(design.shape[1]):
                totals[row, a] += value * y[a]


def weighted_sums(items: Side, weights: Ints, rows: Ints) -> Longs:
    """Return sum over cells (u, j) of weights[cell] * rows[u], shape (items, D), in int64.

    `weights`: canonical cell order, shape (n,). `rows`: shape (users, D). Integer sums are
    identical in any order; nothing overflows while each product stays below 2^62 / users.
    """
    sums = np.zeros((len(items.start) - 1, rows.shape[1]), np.int64)
    pieces = thread_pieces(items.start)
    over_pieces(_add_weighted, pieces, items, weights, rows, sums)
    return sums


@njit(nogil=True, cache=True)
def _add_weighted(
    piece: int, pieces: Longs, items: Side, weights: Ints, rows: Ints, sums: Longs
) -> None:
    for j in range(pieces[piece], pieces[piece + 1]):
        for t in range(items.start[j], items.start[j + 1]):
            weight, row = np.int64(weights[items.cell[t]]), items.other[t]
            for d in range(rows.shape[1]):
                sums[j, d] += weight * rows[row, d]


Floats = NDArray[np.float32]
LEAST_RIDGE = 0.01
"""Below it a row with fewer cells than factors may have no Cholesky factor in float32."""
BATCH = 64  # cells per batch: with the matrix they fill the L1 cache


class SideProblem(NamedTuple):
    """Least-squares problem of one side, given the other.

    `target`, `weight`: canonical cell order, shape (n,). `design`: shape (columns, K). `offset`:
    shape (columns,). `ridge`: shape (K,), not negative.
    """

    target: Floats
    weight: Floats
    design: Floats
    offset: Floats
    ridge: Floats


def half_step(side: Side, problem: SideProblem) -> Floats:
    """Return the rows that solve the problem, shape (rows, K); a row without cells is zero."""
    if problem.ridge.min() < LEAST_RIDGE:
        return least_norm_step(side, problem)
    K = problem.design.shape[1]
    problem = problem._replace(design=in_vectors(problem.design))
    rows = np.zeros((len(side.start) - 1, padded(K)), np.float32)
    threads = thread_count(len(side.other) * K)
    in_threads(_solve_rows, threads, threads, largest_first(side), side, problem, rows)
    return np.ascontiguousarray(rows[:, :K])


def least_norm_step(side: Side, problem: SideProblem) -> Floats:
    """Solve by a singular value decomposition of each row's problem: (A; R^1/2) x = (b; 0)."""
    design, held = problem.design.astype(np.float64), np.sqrt(problem.ridge.astype(np.float64))
    roots = np.sqrt(problem.weight.astype(np.float64))
    rows = np.zeros((len(side.start) - 1, design.shape[1]), np.float32)
    for r in np.flatnonzero(side.counts):
        run = slice(side.start[r], side.start[r + 1])
        cells, columns = side.cell[run], side.other[run]
        A = np.vstack([roots[cells, None] * design[columns], np.diag(held)])
        b = np.zeros(len(A))
        b[: len(cells)] = roots[cells] * (problem.target[cells] - problem.offset[columns])
        rows[r] = np.linalg.lstsq(A, b, rcond=None)[0]
    return rows


def in_vectors(design: Floats) -> Floats:
    """Pad the design with zero columns to a multiple of the vector width.

    Shapes (rows, K) and (rows, padded K).
    """
    K = design.shape[1]
    return np.ascontiguousarray(np.pad(design, ((0, 0), (0, padded(K) - K))), np.float32)


def largest_first(side: Side) -> NDArray[np.int64]:
    """Return rows by decreasing size, which balances the load of threads in round-robin order.

    Shape (rows,).
    """
    return np.argsort(-side.counts, kind="stable")


@njit(nogil=True, cache=True, fastmath=FAST)
def _solve_rows(
    thread: int, threads: int, turns: Longs, side: Side, problem: SideProblem, rows: Floats
) -> None:
    K, width = len(problem.ridge), rows.shape[1]
    H = np.empty((width, width), np.float32)
    y = np.empty((BATCH, width), np.float32)
    pull = np.empty((BATCH, 1), np.float32)
    for turn in range(thread, len(turns), threads):
        r = turns[turn]
        cells = slice(side.start[r], side.start[r + 1])
        if cells.start < cells.stop:
            H[:] = 0
            x = rows[r : r + 1]
            _normal_equations(side.other[cells], side.cell[cells], problem, y, pull, H, x)
            for k in range(K):
                H[k, k] += problem.ridge[k]
            factor(H, K)
            solve_transposed(H, rows[r, :K])
            solve_lower(H, rows[r, :K])


@njit(cache=True, fastmath=FAST)
def _normal_equations(
    other: Ints,
    cell: Ints,
    problem: SideProblem,
    y: Floats,
    pull: Floats,
    H: Floats,
    x: Floats,
) -> None:
    K, vectors = len(problem.ridge), x.shape[1] // LANES
    for first in range(0, len(other), BATCH):
        here = min(BATCH, len(other) - first)
        for b in range(here):
            c, e = other[first + b], cell[first + b]
            root = np.sqrt(problem.weight[e])
            pull[b, 0] = root * (problem.target[e] - problem.offset[c])
            scale(y, b, root, problem.design, c, vectors)
        add_rows(x, 0, K, 1.0, pull, 0, y, here)
        add_gram(H, K, 1.0, y, here)
