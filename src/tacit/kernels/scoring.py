"""One half-sweep of the sampler: each row drawn from its conditional, read off the score table.

For reports with log-likelihood l(theta), score s = l' and Fisher information J = E[s^2], the
working target theta + s / J with weight J makes a row's conditional normal:

    H = diag(precision) + sum_c J_c y_c y_c'
    x <- x + H^-1 (sum_c s_c y_c - precision (x - prior)) + H^-1/2 noise

At small epsilon a report says little and l is straight over the width of a row's posterior; the
step is then the exact conditional, and unlike augmentation by the hidden rating it mixes at once.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tacit.kernels.dense import BATCH, FAST, factor, rank_update, solve_lower, solve_transposed
from tacit.kernels.layout import Side

Floats = NDArray[np.float32]


def half_sweep(
    side: Side,
    symbols: NDArray[np.int32],
    theta: Floats,
    table: Floats,
    origin: float,
    pace: float,
    rows: Floats,
    design: Floats,
    prior: Floats,
    precision: Floats,
    noise: Floats,
) -> None:
    """Redraw `rows` (people or items, shape (rows, W), W even) in place, and keep `theta` true.

    `symbols`, `theta`: canonical cell order, shape (n,). `table`: score and information at
    theta = origin + pace * g, shape (symbols, grid, 2). `design`: the other side with its bias
    column replaced by ones, shape (columns, W). `prior`: shape (rows, W). `precision`: shape (W,).
    `noise`: standard normals, shape (rows, W); drawn outside so that no thread count changes it.
    """
    turns = np.argsort(-side.counts, kind="stable")
    _draw_rows(
        turns, nb.get_num_threads(), side.start, side.other, side.cell, symbols, theta, table,
        np.float32(origin), np.float32(pace), rows, design, prior, precision, noise,
    )  # fmt: skip


@nb.njit(parallel=True, cache=True, fastmath=FAST)
def _draw_rows(  # type: ignore[no-untyped-def]
    turns, threads, start, other, cell, symbols, theta, table, origin, pace,
    rows, design, prior, precision, noise,
):  # fmt: skip
    n, W = rows.shape
    for thread in nb.prange(threads):
        H = np.empty((W, W), np.float32)
        y = np.zeros((BATCH, W), np.float32)
        step = np.empty(W, np.float32)
        for turn in range(thread, n, threads):
            r = turns[turn]
            mine = slice(start[r], start[r + 1])
            H[:] = 0
            for k in range(W):
                step[k] = -precision[k] * (rows[r, k] - prior[r, k])
            _gather(
                other[mine], cell[mine], symbols, theta, table, origin, pace, design, y, H, step
            )
            for k in range(W):
                H[k, k] += precision[k]
            factor(H, y)
            solve_transposed(H, step)
            step += noise[r]
            solve_lower(H, step)
            rows[r] += step
            _move(other[mine], cell[mine], theta, design, step)


@nb.njit(cache=True, fastmath=FAST)
def _gather(  # type: ignore[no-untyped-def]
    other, cell, symbols, theta, table, origin, pace, design, y, H, gradient
):
    W = len(gradient)
    last = np.float32(table.shape[1] - 1.001)
    for first in range(0, len(other), BATCH):
        here = min(BATCH, len(other) - first)
        for b in range(here):
            e = cell[first + b]
            place = min(max((theta[e] - origin) / pace, np.float32(0)), last)
            g = int(place)
            f = place - np.float32(g)
            o = symbols[e]
            score = table[o, g, 0] + f * (table[o, g + 1, 0] - table[o, g, 0])
            root = np.sqrt(table[o, g, 1] + f * (table[o, g + 1, 1] - table[o, g, 1]))
            c = other[first + b]
            for k in range(W):
                y[b, k] = root * design[c, k]
                gradient[k] += score * design[c, k]
        y[here:] = 0
        rank_update(y, H, W, np.float32(1))


@nb.njit(cache=True, fastmath=FAST | {"reassoc"})
def _move(other, cell, theta, design, step):  # type: ignore[no-untyped-def]
    for t in range(len(other)):
        c = other[t]
        change = np.float32(0)
        for k in range(len(step)):
            change += step[k] * design[c, k]
        theta[cell[t]] += change
