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

from tacit.kernels.als import BATCH, in_vectors, largest_first
from tacit.kernels.dense import FAST, add_gram, add_rows, factor, solve_lower, solve_transposed
from tacit.kernels.layout import Side
from tacit.kernels.tile import LANES, scale

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
    given = given._replace(design=in_vectors(given.design))
    _draw_rows(largest_first(side), get_num_threads(), side, given, rows, theta)


@njit(parallel=True, cache=True, fastmath=FAST)
def _draw_rows(
    turns: NDArray[np.int64],
    threads: int,
    side: Side,
    given: Conditional,
    rows: Floats,
    theta: Floats,
) -> None:
    W, width = rows.shape[1], given.design.shape[1]
    for thread in prange(threads):
        H = np.empty((width, width), np.float32)
        y = np.empty((BATCH, width), np.float32)
        pull = np.empty((BATCH, 1), np.float32)
        gradient = np.zeros((1, width), np.float32)
        step = gradient[0, :W]
        for turn in range(thread, len(turns), threads):
            r = turns[turn]
            cells = slice(side.start[r], side.start[r + 1])
            H[:] = 0
            for k in range(W):
                step[k] = -given.precision[k] * (rows[r, k] - given.prior[r, k])
            _normal_equations(
                side.other[cells], side.cell[cells], given, theta, y, pull, H, gradient
            )
            for k in range(W):
                H[k, k] += given.precision[k]
            factor(H, W)
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
    W, table, vectors = len(given.precision), given.table, y.shape[1] // LANES
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
            pull[b, 0] = (at[0] + f * (on[0] - at[0])) / root
            scale(y, b, root, given.design, c, vectors)
        add_rows(gradient, 0, W, 1.0, pull, 0, y, here)
        add_gram(H, W, 1.0, y, here)


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


@njit(cache=True)
def total_score(
    symbols: Ints, theta: Floats, table: Floats, origin: np.float32, pace: np.float32
) -> tuple[float, float]:
    """Sums of score and information over all cells, at the grid point nearest to each theta."""
    score, information, last = 0.0, 0.0, table.shape[1] - 1
    for t in range(len(theta)):
        g = int(np.rint((theta[t] - origin) / pace))
        both = table[symbols[t], min(max(g, 0), last)]
        score += both[0]
        information += both[1]
    return score, information
