"""One half-sweep of the sampler: each row drawn from its conditional, read off the score table.

For reports with log-likelihood l(theta), score s = l' and Fisher information J = E[s^2], the
working target theta + s / J with weight J makes a row's conditional normal:

    H = diag(precision) + sum_c J_c y_c y_c'
    x <- x + H^-1 (sum_c s_c y_c - precision (x - prior)) + H^-1/2 noise

At small epsilon a report says little and l is nearly a parabola over the width of a row's
posterior; the step is then the exact conditional, and unlike augmentation by the hidden rating it
mixes at once.
"""

from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.als import add_rows, largest_first
from tacit.kernels.dense import BATCH, FAST, factor, padded, solve_lower, solve_transposed
from tacit.kernels.layout import Side
from tacit.kernels.tile import add_gram

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Conditional(NamedTuple):
    """What a side is drawn given.

    `symbols`: canonical cell order, shape (n,). `table`: score and information at
    theta = origin + pace * g, shape (symbols, grid, 2). `design`: the other side with ones for its
    bias, shape (columns, W). `prior`: shape (rows, W). `precision`: shape (W,). `noise`: standard
    normals, shape (rows, W), drawn outside so that the number of threads changes nothing.
    """

    symbols: Ints
    table: Floats
    origin: np.float32
    pace: np.float32
    design: Floats
    prior: Floats
    precision: Floats
    noise: Floats


def half_sweep(side: Side, given: Conditional, rows: Floats, theta: Floats) -> None:
    """Redraw `rows` (shape (rows, W)) in place, and keep `theta` (shape (n,)) true."""
    width = padded(rows.shape[1])
    _draw_rows(largest_first(side), get_num_threads(), width, side, given, rows, theta)


@njit(parallel=True, cache=True, fastmath=FAST)
def _draw_rows(
    turns: NDArray[np.int64],
    threads: int,
    width: int,
    side: Side,
    given: Conditional,
    rows: Floats,
    theta: Floats,
) -> None:
    W = rows.shape[1]
    for thread in prange(threads):
        H = np.zeros((width, width), np.float32)
        y, z = np.zeros((2, BATCH, width), np.float32)
        pull = np.zeros(BATCH, np.float32)
        step = np.empty(W, np.float32)
        for turn in range(thread, len(turns), threads):
            r = turns[turn]
            cells = slice(side.start[r], side.start[r + 1])
            H[:] = 0
            for k in range(W):
                step[k] = -given.precision[k] * (rows[r, k] - given.prior[r, k])
            _normal_equations(side.other[cells], side.cell[cells], given, theta, y, pull, H, step)
            for k in range(W):
                H[k, k] += given.precision[k]
            factor(H, y, z, W)
            solve_transposed(H, step)
            step += given.noise[r]
            solve_lower(H, step)
            rows[r] += step
            _move(side.other[cells], side.cell[cells], given.design, step, theta)


@njit(cache=True, fastmath=FAST)
def _normal_equations(
    other: Ints,
    cell: NDArray[np.int64],
    given: Conditional,
    theta: Floats,
    y: Floats,
    pull: Floats,
    H: Floats,
    gradient: Floats,
) -> None:
    W, table = len(gradient), given.table
    last = np.float32(table.shape[1] - 1.001)
    for first in range(0, len(other), BATCH):
        here = min(BATCH, len(other) - first)
        for b in range(here):
            c, e = other[first + b], cell[first + b]
            place = (theta[e] - given.origin) / given.pace
            place = min(max(place, np.float32(0)), last)
            g = int(place)
            f = place - np.float32(g)
            at, on = table[given.symbols[e], g], table[given.symbols[e], g + 1]
            root = np.sqrt(at[1] + f * (on[1] - at[1]))
            pull[b] = (at[0] + f * (on[0] - at[0])) / root
            for k in range(W):
                y[b, k] = root * given.design[c, k]
        y[here:] = 0
        add_rows(y, pull, gradient)
        add_gram(y, y, H, W)


@njit(cache=True, fastmath=FAST | {"reassoc"})
def _move(
    other: Ints, cell: NDArray[np.int64], design: Floats, step: Floats, theta: Floats
) -> None:
    for t in range(len(other)):
        c = other[t]
        change = np.float32(0)
        for k in range(len(step)):
            change += step[k] * design[c, k]
        theta[cell[t]] += change
