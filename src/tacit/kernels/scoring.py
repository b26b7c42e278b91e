"""One half-sweep of the sampler: each row drawn from its conditional, read off the score table.

A report with log-likelihood l(theta) has the score s = l' and the Fisher information J = E[s^2].
With w = J at each cell's `centre`, which does not depend on the row's own state,

    H = diag(precision) + sum_c w_c y_c y_c',   g(x) = sum_c s_c y_c - precision (x - prior)

and x' = x + H^-1 g(x) + H^-1/2 z is a draw of the row's conditional wherever l is a parabola of
that curvature. Seldom is it quite: at small epsilon J falls away from the middle of the scale, and
draws that are taken as they come make biases a tenth to a fifth too small. So x' is a proposal,
accepted with Metropolis and Hastings' probability, and the conditional is exact (the adjusted
Langevin step of Roberts and Tweedie 1996, at full length and preconditioned by H).

What everything else needs of the rows are sums, in integers, so that neither threads nor blocks of
rows change a digit.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from tacit.kernels.als import BATCH, in_vectors
from tacit.kernels.dense import FAST, add_gram, add_rows, factor, solve_lower, solve_transposed
from tacit.kernels.layout import even_pieces
from tacit.kernels.tile import LANES, add_scaled, dot, fetch, scale

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
ANYHOW = np.float32(-3e38)  # a bar that every proposal passes
GRAIN = float(1 << 20)  # of the grid on which sums are integers, to one
HALF, BEFORE_LAST = np.float32(0.5), np.float32(1.001)
AHEAD = 8  # cells whose columns are on their way to the nearest cache


class ReportRows(NamedTuple):
    """The reports of a run of rows. Row r owns the positions `start[r]` to `start[r + 1]`.

    `other`: int32, the column of each. `symbol`: uint16, what was reported. `centre`: int16, the
    place of the grid whose information weighs it, or -1 where that is its theta's own.
    """

    start: Ints
    other: NDArray[np.int32]
    symbol: NDArray[np.uint16]
    centre: NDArray[np.int16]


class Readings(NamedTuple):
    """Of each symbol, at theta = origin + g / steps. `table`: score and log-likelihood, shape
    (symbols, grid, 2). `root`: of the information, shape (symbols, grid)."""

    table: Floats
    root: Floats
    origin: np.float32
    steps: np.float32


class Conditional(NamedTuple):
    """What rows are drawn given.

    theta = mu + x[0] + y[0] + x[1:] . y[1:] and x is N(features weights, 1 / precision). The first
    four fields are those of `Readings`. `shift`: what rows' biases are to be raised by first.
    `design`: y, shape (columns, W), up to whole vectors. `features`: shape
    (rows, d). `weights`: shape (d, W). `precision`: shape (W,). `noise`: standard normals, shape
    (rows, W), and `bar`: logarithms of uniforms, or `ANYHOW`, shape (rows,); both are drawn outside
    so that the number of threads changes nothing.
    """

    table: Floats
    root: Floats
    origin: np.float32
    steps: np.float32
    mu: np.float32
    shift: np.float32
    design: Floats
    features: Floats
    weights: Floats
    precision: Floats
    noise: Floats
    bar: Floats


class Tally(NamedTuple):
    """Sums over rows and cells. `counts`: cells by symbol and the place of their theta, shape
    (symbols, grid). `pulls`: of features times rows, shape (d, W), `sums`: of rows and of their
    squares, shape (2, W), these on a grid of 1 / `GRAIN`."""

    counts: Ints
    pulls: Ints
    sums: Ints


def half_sweep(cells: ReportRows, given: Conditional, rows: Floats) -> Tally:
    """Redraw `rows` (shape (rows, W)) in place; their sums."""
    given = given._replace(design=in_vectors(given.design))
    pieces = even_pieces(cells.start, get_num_threads())
    n, (d, W) = len(pieces) - 1, given.weights.shape
    tally = Tally(
        np.zeros((n, *given.root.shape), np.int64),
        np.zeros((n, d, W), np.int64),
        np.zeros((n, 2, W), np.int64),
    )
    _draw_rows(pieces, cells, given, rows, tally)
    return Tally(*(each.sum(0) for each in tally))


@njit(parallel=True, cache=True, fastmath=FAST, error_model="numpy")
def _draw_rows(
    pieces: Ints, cells: ReportRows, given: Conditional, rows: Floats, tally: Tally
) -> None:
    W, width = rows.shape[1], given.design.shape[1]
    for piece in prange(len(pieces) - 1):
        H, y = np.empty((width, width), np.float32), np.empty((BATCH, width), np.float32)
        pull, here = np.empty((BATCH, 1), np.float32), np.zeros((1, width), np.float32)
        there, x, prior = np.zeros_like(here), np.zeros_like(here), np.empty(W, np.float32)
        step, start = np.empty(W, np.float32), cells.start
        most = 0
        for r in range(pieces[piece], pieces[piece + 1]):
            most = max(most, start[r + 1] - start[r])
        before, after = np.empty(most, np.int16), np.empty(most, np.int16)
        for r in range(pieces[piece], pieces[piece + 1]):
            run, z = (start[r], start[r + 1]), given.noise[r]
            rows[r, 0] += given.shift
            _expected(given, r, prior)
            gain = -_log_prior(given, rows[r], prior, here[0])
            gain -= _normal_equations(run, cells, given, rows[r], x, y, pull, H, here, before)
            gradient = here[0, :W]
            factor(H, W)
            solve_transposed(H, gradient)
            step[:] = gradient + z
            solve_lower(H, step)
            step += rows[r]
            gain += _log_prior(given, step, prior, there[0])
            gain += _scores(run, cells, given, step, x, there, after)
            back = there[0, :W]
            solve_transposed(H, back)
            for k in range(W):
                gain += (z[k] ** 2 - (gradient[k] + z[k] + back[k]) ** 2) / 2
            taken = given.bar[r] < gain
            if taken:
                rows[r] = step
            _count(run, cells, after if taken else before, tally.counts[piece])
            _add_up(given, r, rows[r], tally.pulls[piece], tally.sums[piece])


@njit(cache=True, fastmath=FAST, inline="always")
def _expected(given: Conditional, r: int, prior: Floats) -> None:
    prior[:] = 0
    for j in range(len(given.weights)):
        value = given.features[r, j]
        for k in range(len(prior)):
            prior[k] += value * given.weights[j, k]


@njit(cache=True, fastmath=FAST, inline="always")
def _log_prior(given: Conditional, x: Floats, prior: Floats, gradient: Floats) -> float:
    """The row's log-prior at x, whose gradient replaces `gradient`."""
    total = 0.0
    for k in range(len(x)):
        away = x[k] - prior[k]
        gradient[k] = -given.precision[k] * away
        total -= given.precision[k] * away * away / 2
    return total


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _normal_equations(
    run: tuple[int, int],
    cells: ReportRows,
    given: Conditional,
    row: Floats,
    x: Floats,
    y: Floats,
    pull: Floats,
    H: Floats,
    gradient: Floats,
    places: NDArray[np.int16],
) -> float:
    """H and the gradient at `row`; the log-likelihood there."""
    W, vectors, total = len(row), y.shape[1] // LANES, 0.0
    level = _level(given, row, x)
    H[:] = 0
    for k in range(W):
        H[k, k] = given.precision[k]
    for first in range(run[0], run[1], BATCH):
        here = min(BATCH, run[1] - first)
        for b in range(here):
            t = first + b
            fetch(given.design, cells.other[min(t + AHEAD, len(cells.other) - 1)])
            symbol, column, centre = cells.symbol[t], cells.other[t], cells.centre[t]
            place = _place(given, level + dot(x, 0, given.design, column, vectors))
            near = np.int16(place + HALF)
            root = given.root[symbol, near if centre < 0 else centre]
            score, log = _read(given.table, symbol, place)
            scale(y, b, root, given.design, column, vectors)
            y[b, 0], pull[b, 0], places[t - run[0]] = root, score / root, near
            total += log
        add_rows(gradient, 0, W, 1.0, pull, 0, y, here)
        add_gram(H, W, 1.0, y, here)
    return total


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _scores(
    run: tuple[int, int],
    cells: ReportRows,
    given: Conditional,
    row: Floats,
    x: Floats,
    gradient: Floats,
    places: NDArray[np.int16],
) -> float:
    """The gradient's sum of scores at `row`; the log-likelihood there."""
    vectors, total, of_bias = given.design.shape[1] // LANES, 0.0, 0.0
    level, prior = _level(given, row, x), gradient[0, 0]
    for t in range(run[0], run[1]):
        column = cells.other[t]
        place = _place(given, level + dot(x, 0, given.design, column, vectors))
        score, log = _read(given.table, cells.symbol[t], place)
        add_scaled(gradient, 0, score, given.design, column, vectors)
        places[t - run[0]] = np.int16(place + HALF)
        total += log
        of_bias += score
    gradient[0, 0] = prior + of_bias
    return total


@njit(cache=True, fastmath=FAST, inline="always")
def _level(given: Conditional, row: Floats, x: Floats) -> Any:
    """theta = level + x . y: what is the row's own, and `x`, that meets a bias with a one."""
    x[0, : len(row)] = row
    x[0, 0] = 1
    return given.mu + row[0]


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _place(given: Conditional, theta: Any) -> Any:
    """Where theta is on the grid, in steps."""
    place = (theta - given.origin) * given.steps
    return min(max(place, np.float32(0)), np.float32(given.root.shape[1]) - BEFORE_LAST)


@njit(cache=True, fastmath=FAST, inline="always")
def _read(table: Floats, symbol: Any, place: Any) -> Any:
    """Score and log-likelihood between two points of the grid."""
    g = np.int32(place)
    on = place - np.float32(g)
    score, log = table[symbol, g, 0], table[symbol, g, 1]
    up, over = table[symbol, g + 1, 0], table[symbol, g + 1, 1]
    return score + on * (up - score), log + on * (over - log)


@njit(cache=True, inline="always")
def _count(
    run: tuple[int, int], cells: ReportRows, places: NDArray[np.int16], counts: Ints
) -> None:
    for t in range(run[0], run[1]):
        counts[cells.symbol[t], places[t - run[0]]] += 1


@njit(cache=True, inline="always")
def _add_up(given: Conditional, r: int, row: Floats, pulls: Ints, sums: Ints) -> None:
    for k in range(len(row)):
        x = GRAIN * row[k]
        sums[0, k] += np.int64(np.rint(x))
        sums[1, k] += np.int64(np.rint(x * row[k]))
    for j in range(len(pulls)):
        value = GRAIN * given.features[r, j]
        for k in range(len(row)):
            pulls[j, k] += np.int64(np.rint(value * row[k]))
