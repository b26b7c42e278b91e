"""The one weighted-ALS half-step that every least-squares model declares itself through.

    min_X  sum over cells (r, c)  w_rc (target_rc - offset_c - x_r . y_c)^2  +  sum_r x_r' R x_r

with R = diag(ridge). Row r solves
(sum_c w_rc y_c y_c' + R) x_r = sum_c w_rc (target_rc - offset_c) y_c. Data are float32; a row's
sums run over its own cells only, so float32 holds them.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tacit.kernels.dense import BATCH, FAST, factor, rank_update, solve_lower, solve_transposed
from tacit.kernels.layout import Side

Floats = NDArray[np.float32]


def half_step(
    side: Side, target: Floats, weight: Floats, design: Floats, offset: Floats, ridge: Floats
) -> Floats:
    """The least-squares rows of one side, given the other.

    `target`, `weight`: canonical cell order, shape (n,). `design`: shape (columns, K). `offset`:
    shape (columns,). `ridge`: shape (K,), positive. Returns shape (rows, K); a row without cells
    comes out as zero.
    """
    K = design.shape[1]
    odd = (
        K % 2
    )  # the dense kernels take even sizes: an empty column with unit ridge changes nothing
    design = np.ascontiguousarray(np.pad(design, ((0, 0), (0, odd))), np.float32)
    ridge = np.pad(ridge, (0, odd), constant_values=1).astype(np.float32)
    out = np.zeros((len(side.counts), K + odd), np.float32)
    # Rows are dealt out largest first, so that all cores finish together.
    turns = np.argsort(-side.counts, kind="stable")
    _solve_rows(
        turns, nb.get_num_threads(), side.start, side.other, side.cell,
        target, weight, design, offset, ridge, out,
    )  # fmt: skip
    return out[:, :K]


@nb.njit(parallel=True, cache=True, fastmath=FAST)
def _solve_rows(  # type: ignore[no-untyped-def]
    turns, threads, start, other, cell, target, weight, design, offset, ridge, out
):
    rows, K = out.shape
    for thread in nb.prange(threads):
        H = np.empty((K, K), np.float32)
        y = np.zeros((BATCH, K), np.float32)
        for turn in range(thread, rows, threads):
            r = turns[turn]
            if start[r] < start[r + 1]:
                cells = slice(start[r], start[r + 1])
                x = out[r]
                H[:] = 0
                _normal_equations(
                    other[cells], cell[cells], target, weight, design, offset, y, H, x
                )
                for k in range(K):
                    H[k, k] += ridge[k]
                factor(H, y)
                solve_transposed(H, x)
                solve_lower(H, x)


@nb.njit(cache=True, fastmath=FAST)
def _normal_equations(other, cell, target, weight, design, offset, y, H, x):  # type: ignore
    K = len(x)
    for first in range(0, len(other), BATCH):
        here = min(BATCH, len(other) - first)
        for b in range(here):
            c = other[first + b]
            w = weight[cell[first + b]]
            root = np.sqrt(w)
            residual = w * (target[cell[first + b]] - offset[c])
            for k in range(K):
                y[b, k] = root * design[c, k]
                x[k] += residual * design[c, k]
        y[here:] = 0
        rank_update(y, H, K, np.float32(1))
