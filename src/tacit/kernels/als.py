"""The one weighted-ALS half-step that every least-squares model declares itself through.

    min_X  sum over cells (r, c)  w_rc (target_rc - offset_c - x_r . y_c)^2  +  sum_r x_r' R x_r

with R = diag(ridge). Row r solves
(sum_c w_rc y_c y_c' + R) x_r = sum_c w_rc (target_rc - offset_c) y_c. Data are float32; a row's
sums run over its own cells only, so float32 holds them.
"""

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.dense import BATCH, FAST, factor, padded, solve_lower, solve_transposed
from tacit.kernels.layout import Side
from tacit.kernels.tile import add_gram, prefetch

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
CACHE_LINE = 64


class Problem(NamedTuple):
    """The least-squares problem of one side, given the other.

    `target`, `weight`: canonical cell order, shape (n,). `design`: shape (columns, K). `offset`:
    shape (columns,). `ridge`: shape (K,), positive.
    """

    target: Floats
    weight: Floats
    design: Floats
    offset: Floats
    ridge: Floats


def half_step(side: Side, problem: Problem) -> Floats:
    """The rows that solve the problem, shape (rows, K); a row without cells is zero."""
    design = np.ascontiguousarray(problem.design, np.float32)
    problem = problem._replace(design=design, ridge=problem.ridge.astype(np.float32))
    rows = np.zeros((len(side.start) - 1, design.shape[1]), np.float32)
    width = padded(design.shape[1])
    _solve_rows(largest_first(side), get_num_threads(), width, side, problem, rows)
    return rows


def largest_first(side: Side) -> NDArray[np.int64]:
    """Rows by falling size: dealt out in turn, they keep all cores busy to the end."""
    return np.argsort(-side.counts, kind="stable")


@njit(parallel=True, cache=True, fastmath=FAST)
def _solve_rows(
    turns: NDArray[np.int64],
    threads: int,
    width: int,
    side: Side,
    problem: Problem,
    rows: Floats,
) -> None:
    K = rows.shape[1]
    for thread in prange(threads):
        H = np.zeros((width, width), np.float32)
        y, z = np.zeros((2, BATCH, width), np.float32)
        pull = np.zeros(BATCH, np.float32)
        for turn in range(thread, len(turns), threads):
            r = turns[turn]
            cells = slice(side.start[r], side.start[r + 1])
            if cells.start < cells.stop:
                x = rows[r]
                H[:] = 0
                _normal_equations(side.other[cells], side.cell[cells], problem, y, pull, H, x)
                for k in range(K):
                    H[k, k] += problem.ridge[k]
                factor(H, y, z, K)
                solve_transposed(H, x)
                solve_lower(H, x)


@njit(cache=True, fastmath=FAST)
def _normal_equations(
    other: Ints,
    cell: NDArray[np.int64],
    problem: Problem,
    y: Floats,
    pull: Floats,
    H: Floats,
    x: Floats,
) -> None:
    K = len(x)
    for first in range(0, len(other), BATCH):
        here = min(BATCH, len(other) - first)
        for b in range(here):
            c, e = other[first + b], cell[first + b]
            root = np.sqrt(problem.weight[e])
            pull[b] = root * (problem.target[e] - problem.offset[c])
            for k in range(K):
                y[b, k] = root * problem.design[c, k]
        y[here:] = 0
        _fetch_rows(other, first + BATCH, problem.design)
        _fetch_cells(cell, first + BATCH, problem)
        add_rows(y, pull, x)
        add_gram(y, y, H, K)


@njit(cache=True)
def _fetch_rows(other: Ints, first: int, design: Floats) -> None:
    """Ask for the next batch's rows while this one is computed with: large tables miss caches."""
    start, stride = design.ctypes.data, design.strides[0]
    for t in range(first, min(first + BATCH, len(other))):
        row = start + stride * other[t]
        for line in range(0, stride, CACHE_LINE):
            prefetch(row + line)


@njit(cache=True)
def _fetch_cells(cell: NDArray[np.int64], first: int, problem: Problem) -> None:
    target, weight = problem.target.ctypes.data, problem.weight.ctypes.data
    for t in range(first, min(first + BATCH, len(cell))):
        prefetch(target + problem.target.itemsize * cell[t])
        prefetch(weight + problem.weight.itemsize * cell[t])


@njit(cache=True, fastmath=FAST)
def add_rows(y: Floats, pull: Floats, x: Floats) -> None:
    """x += pull' y, eight rows at once."""
    a0, a1, a2, a3 = pull[0], pull[1], pull[2], pull[3]
    a4, a5, a6, a7 = pull[4], pull[5], pull[6], pull[7]
    for k in range(len(x)):
        low = a0 * y[0, k] + a1 * y[1, k] + a2 * y[2, k] + a3 * y[3, k]
        x[k] += low + a4 * y[4, k] + a5 * y[5, k] + a6 * y[6, k] + a7 * y[7, k]
