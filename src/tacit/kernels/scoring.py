"""One half-sweep of the sampler: each row drawn from its conditional, read off the score table.

A report with log-likelihood l(theta) has the score s = l' and the Fisher information J = E[s^2].
With w = J at each cell's `centre`, which does not depend on the row's own state,

    H = diag(precision) + sum_c w_c y_c y_c',   g(x) = sum_c s_c y_c - precision (x - prior)

and x' = x + H^-1 g(x) + H^-1/2 z is a draw of the row's conditional wherever l is a parabola of
that curvature. Seldom is it quite: at small epsilon J falls away from the middle of the scale, and
draws that are taken as they come make biases a tenth to a fifth too small. So x' is a proposal,
accepted with Metropolis and Hastings' probability, and the conditional is exact (the adjusted
Langevin step of Roberts and Tweedie 1996, at full length and preconditioned by H).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.als import BATCH, in_vectors, largest_first
from tacit.kernels.dense import FAST, add_gram, add_rows, factor, solve_lower, solve_transposed
from tacit.kernels.layout import Side
from tacit.kernels.tile import LANES, scale

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
ANYHOW = np.float32(-3e38)  # a bar that every proposal passes


class Conditional(NamedTuple):
    """What a side is drawn given.

    `symbols`: canonical cell order, shape (n,). `table`: score, information and log-likelihood at
    theta = origin + pace * g, shape (symbols, grid, 3). `design`: the other side with ones for its
    bias, shape (columns, W). `prior`: shape (rows, W). `precision`: shape (W,). `centre`: the theta
    whose information weighs each cell, shape (n,). `noise`: standard normals, shape (rows, W), and
    `bar`: logarithms of uniforms, or `ANYHOW`, shape (rows,); both are drawn outside so that the
    number of threads changes nothing.
    """

    symbols: Ints
    table: Floats
    origin: np.float32
    pace: np.float32
    design: Floats
    prior: Floats
    precision: Floats
    centre: Floats
    noise: Floats
    bar: Floats


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
    most = side.start[turns[0] + 1] - side.start[turns[0]] if len(turns) else 0
    for thread in prange(threads):
        H, y = np.empty((width, width), np.float32), np.empty((BATCH, width), np.float32)
        pull, here = np.empty((BATCH, 1), np.float32), np.zeros((1, width), np.float32)
        gradient, there = here[0, :W], np.empty(W, np.float32)
        step, moved = np.empty(W, np.float32), np.empty(most, np.float32)
        for turn in range(thread, len(turns), threads):
            r = turns[turn]
            cells = slice(side.start[r], side.start[r + 1])
            other, cell, x, z = side.other[cells], side.cell[cells], rows[r], given.noise[r]
            gain = -_pull_of_prior(given, r, x, gradient)
            gain -= _normal_equations(other, cell, given, theta, y, pull, H, here)
            factor(H, W)
            solve_transposed(H, gradient)
            step[:] = gradient + z
            solve_lower(H, step)
            gain += _pull_of_prior(given, r, x + step, there)
            gain += _scores(other, cell, given, theta, step, there, moved)
            solve_transposed(H, there)
            for k in range(W):
                gain += (z[k] ** 2 - (gradient[k] + z[k] + there[k]) ** 2) / 2
            if given.bar[r] < gain:
                x += step
                for t in range(len(cell)):
                    theta[cell[t]] = moved[t]


@njit(cache=True, fastmath=FAST)
def _pull_of_prior(given: Conditional, r: int, x: Floats, gradient: Floats) -> float:
    """The gradient of the row's log-prior at x, which replaces `gradient`; the log-prior."""
    total = 0.0
    for k in range(len(x)):
        away = x[k] - given.prior[r, k]
        gradient[k] = -given.precision[k] * away
        total -= given.precision[k] * away * away / 2
    return total


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
) -> float:
    """H and the gradient at theta; the log-likelihood there."""
    W, vectors, total = len(given.precision), y.shape[1] // LANES, 0.0
    H[:] = 0
    for k in range(W):
        H[k, k] = given.precision[k]
    for first in range(0, len(other), BATCH):
        here = min(BATCH, len(other) - first)
        for b in range(here):
            c, e = other[first + b], cell[first + b]
            symbol = given.symbols[e]
            root = np.sqrt(_read(given, symbol, given.centre[e], 1))
            pull[b, 0] = _read(given, symbol, theta[e], 0) / root
            total += _read(given, symbol, theta[e], 2)
            scale(y, b, root, given.design, c, vectors)
        add_rows(gradient, 0, W, 1.0, pull, 0, y, here)
        add_gram(H, W, 1.0, y, here)
    return total


@njit(cache=True, fastmath=FAST | {"reassoc"})
def _scores(
    other: Ints,
    cell: NDArray[np.int64],
    given: Conditional,
    theta: Floats,
    change: Floats,
    gradient: Floats,
    moved: Floats,
) -> float:
    """The gradient's sum of scores where the row has changed; the log-likelihood there."""
    total = 0.0
    for t in range(len(other)):
        c, e = other[t], cell[t]
        there = theta[e]
        for k in range(len(change)):
            there += change[k] * given.design[c, k]
        moved[t] = there
        score = _read(given, given.symbols[e], there, 0)
        total += _read(given, given.symbols[e], there, 2)
        for k in range(len(change)):
            gradient[k] += score * given.design[c, k]
    return total


@njit(cache=True, fastmath=FAST)
def _read(given: Conditional, symbol: Any, theta: Any, what: int) -> Any:
    """A column of the table, between the two points of the grid beside theta."""
    place = (theta - given.origin) / given.pace
    place = min(max(place, np.float32(0)), np.float32(given.table.shape[1] - 1.001))
    g = int(place)
    on = np.float32(place - g)
    low, high = given.table[symbol, g, what], given.table[symbol, g + 1, what]
    return low + on * (high - low)


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
