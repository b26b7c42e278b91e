"""Half-sweep of the sampler: each row is drawn from its conditional, using the score table.

A report with log-likelihood l(theta) has the score s = l' and the Fisher information J = E[s^2].
With w = J at each cell's `centre`, which does not depend on the row's state,

    H = diag(precision) + sum_c w_c y_c y_c',   g(x) = sum_c s_c y_c - precision (x - prior)

and x' = x + H^-1 g(x) + H^-1/2 z is a draw from the row's conditional if l is a parabola of that
curvature. It rarely is: at small epsilon J decreases away from the middle of the scale, and
accepting all draws makes biases a tenth to a fifth too small. So x' is a proposal, accepted with
the Metropolis-Hastings probability, and the conditional is exact (the adjusted Langevin step of
Roberts and Tweedie 1996, at full length and preconditioned by H).

Row statistics are integer sums, so results do not depend on threads or blocks of rows.

Lookup of a report's score and likelihood in a table on a grid of theta.

The table has one block of all symbols per residual scale, one after another.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import in_threads, thread_pieces
from tacit.kernels.als import BATCH, in_vectors
from tacit.kernels.dense import FAST, add_gram, add_rows, factor, solve_lower, solve_transposed
from tacit.kernels.tile import LANES, add_scaled, dot, fetch, scale

Floats = NDArray[np.float32]
Spreads = NDArray[np.uint8]
"""Index of each row's residual scale, shape (rows,); 0 on a side without scales."""
BEFORE_LAST = np.float32(1.001)


class ReportRows(NamedTuple):
    """Reports of a run of rows. Row r has the positions `start[r]` to `start[r + 1]`.

    `other`: int32, column of each. `symbol`: uint16, reported symbol. `centre`: int16, grid index
    of the information that weighs it, or -1 for that of its theta.
    """

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    symbol: NDArray[np.uint16]
    centre: NDArray[np.int16]


class Readings(NamedTuple):
    """Tables of each symbol under each residual scale, at theta = origin + g / steps.

    `table`: score and log-likelihood, shape (spreads * symbols, grid, 2). `root`: square root of
    the information, shape (spreads * symbols, grid).
    """

    table: Floats
    root: Floats
    origin: np.float32
    steps: np.float32
    symbols: int


@njit(cache=True, fastmath=FAST, inline="always")
def level_of(mu: Any, row: Floats, x: Floats) -> Any:
    """Return the level in theta = level + x . y, and fill `x`, whose 1 multiplies the bias."""
    for k in range(1, len(row)):
        x[0, k] = row[k]
    x[0, 0] = 1
    return mu + row[0]


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def place_of(readings: Readings, theta: Any) -> Any:
    """Return theta's position on the grid, in steps."""
    # Single precision even if an engine sent Python floats to its workers.
    position = (theta - np.float32(readings.origin)) * np.float32(readings.steps)
    return min(max(position, np.float32(0)), np.float32(readings.root.shape[1]) - BEFORE_LAST)


@njit(cache=True, fastmath=FAST, inline="always")
def read(table: Floats, symbol: Any, position: Any) -> Any:
    """Interpolate score and log-likelihood between two grid points."""
    g = np.int32(position)
    on = position - np.float32(g)
    score, log = table[symbol, g, 0], table[symbol, g, 1]
    up, over = table[symbol, g + 1, 0], table[symbol, g + 1, 1]
    return score + on * (up - score), log + on * (over - log)


Ints = NDArray[np.int64]
Symbols = NDArray[np.int32]
"""Rows of `Readings.table`: symbols of reports combined with their residual scale."""
ANYHOW = np.float32(-3e38)  # a threshold that accepts every proposal
GRAIN = float(1 << 20)  # integer grid steps per unit
HALF = np.float32(0.5)
AHEAD = 8  # prefetch distance, in cells


class Conditional(NamedTuple):
    """Inputs of the rows' conditional.

    theta = mu + x[0] + y[0] + x[1:] . y[1:] and x is N(features weights, 1 / precision). `spreads`:
    residual scales of the rows, `beside`: of the columns; a report uses the sum of both indices.
    `shift`: added to rows' biases first. `move`, shape (d,): times the features, added to their
    `column`. `design`: y, shape (columns, W), padded to whole vectors. `features`: shape (rows, d).
    `weights`: shape (d, W). `precision`: shape (W,). `noise`: standard normals, shape (rows, W).
    `bar`: logarithms of uniforms, or `ANYHOW`, shape (rows,). Random numbers are drawn outside, so
    that results do not depend on the number of threads.
    """

    spreads: Spreads
    beside: Spreads
    mu: np.float32
    shift: np.float32
    column: int
    move: Floats
    design: Floats
    features: Floats
    weights: Floats
    precision: Floats
    noise: Floats
    bar: Floats


class Tally(NamedTuple):
    """Sums over rows and cells.

    `counts`: cells by index into `Readings.root`, its shape. `pulls`: of features times rows, shape
    (d, W). `sums`: of rows and of their squares, shape (2, W). The latter are in steps of 1 /
    `GRAIN`.
    """

    counts: Ints
    pulls: Ints
    sums: Ints


def half_sweep(cells: ReportRows, readings: Readings, inputs: Conditional, rows: Floats) -> Tally:
    """Redraw `rows` (shape (rows, W)) in place. Returns their sums."""
    # Contiguous weights: Numba compiles one signature instead of two.
    weights = np.ascontiguousarray(inputs.weights)
    inputs = inputs._replace(design=in_vectors(inputs.design), weights=weights)
    pieces = thread_pieces(cells.start)
    n, (d, W) = len(pieces) - 1, inputs.weights.shape
    tally = Tally(
        np.zeros((n, *readings.root.shape), np.int64),
        np.zeros((n, d, W), np.int64),
        np.zeros((n, 2, W), np.int64),
    )
    in_threads(_draw_rows, n, pieces, cells, readings, inputs, rows, tally)
    return Tally(*(each.sum(0) for each in tally))


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _draw_rows(
    piece: int,
    pieces: Ints,
    cells: ReportRows,
    readings: Readings,
    inputs: Conditional,
    rows: Floats,
    tally: Tally,
) -> None:
    W, width = rows.shape[1], inputs.design.shape[1]
    H, y = np.empty((width, width), np.float32), np.empty((BATCH, width), np.float32)
    pull, here = np.empty((BATCH, 1), np.float32), np.zeros((1, width), np.float32)
    there, x, prior = np.zeros_like(here), np.zeros_like(here), np.empty(W, np.float32)
    step, start = np.empty(W, np.float32), cells.start
    most = 0
    for r in range(pieces[piece], pieces[piece + 1]):
        most = max(most, start[r + 1] - start[r])
    before, after = np.empty(most, np.int16), np.empty(most, np.int16)
    symbols = np.empty(most, np.int32)
    for r in range(pieces[piece], pieces[piece + 1]):
        run, z = (start[r], start[r + 1]), inputs.noise[r]
        rows[r, 0] += inputs.shift
        for j in range(len(inputs.move)):
            rows[r, inputs.column] += inputs.features[r, j] * inputs.move[j]
        _expected(inputs, r, prior)
        _select_tables(run, cells, readings.symbols, inputs, r, symbols)
        gain = -_log_prior(inputs, rows[r], prior, here[0])
        gain -= _normal_equations(
            run, symbols, cells, readings, inputs, rows[r], x, y, pull, H, here, before
        )
        gradient = here[0, :W]
        factor(H, W)
        solve_transposed(H, gradient)
        for k in range(W):
            step[k] = gradient[k] + z[k]
        solve_lower(H, step)
        for k in range(W):
            step[k] += rows[r, k]
        gain += _log_prior(inputs, step, prior, there[0])
        gain += _scores(run, symbols, cells, readings, inputs, step, x, there, after)
        back = there[0, :W]
        solve_transposed(H, back)
        for k in range(W):
            gain += (z[k] ** 2 - (gradient[k] + z[k] + back[k]) ** 2) / 2
        accepted = inputs.bar[r] < gain
        if accepted:
            for k in range(W):
                rows[r, k] = step[k]
        _count(run, symbols, after if accepted else before, tally.counts[piece])
        _add_up(inputs, r, rows[r], tally.pulls[piece], tally.sums[piece])


@njit(cache=True, inline="always")
def _select_tables(
    run: tuple[int, int],
    cells: ReportRows,
    each: int,
    inputs: Conditional,
    r: int,
    symbols: Symbols,
) -> None:
    """Compute each report's row of the table, under its residual scale."""
    row_scale = np.int64(inputs.spreads[r])
    for t in range(run[0], run[1]):
        spread = row_scale + inputs.beside[cells.other[t]]
        symbols[t - run[0]] = each * spread + cells.symbol[t]


@njit(cache=True, fastmath=FAST, inline="always")
def _expected(inputs: Conditional, r: int, prior: Floats) -> None:
    prior[:] = 0
    for j in range(len(inputs.weights)):
        value = inputs.features[r, j]
        for k in range(len(prior)):
            prior[k] += value * inputs.weights[j, k]


@njit(cache=True, fastmath=FAST, inline="always")
def _log_prior(inputs: Conditional, x: Floats, prior: Floats, gradient: Floats) -> float:
    """Return the row's log-prior at x, and overwrite `gradient` with its gradient."""
    total = 0.0
    for k in range(len(x)):
        away = x[k] - prior[k]
        gradient[k] = -inputs.precision[k] * away
        total -= inputs.precision[k] * away * away / 2
    return total


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _normal_equations(
    run: tuple[int, int],
    symbols: Symbols,
    cells: ReportRows,
    readings: Readings,
    inputs: Conditional,
    row: Floats,
    x: Floats,
    y: Floats,
    pull: Floats,
    H: Floats,
    gradient: Floats,
    places: NDArray[np.int16],
) -> float:
    """Compute H and the gradient at `row`. Returns the log-likelihood there."""
    W, vectors, total = len(row), y.shape[1] // LANES, 0.0
    level = level_of(inputs.mu, row, x)
    H[:] = 0
    for k in range(W):
        H[k, k] = inputs.precision[k]
    for first in range(run[0], run[1], BATCH):
        here = min(BATCH, run[1] - first)
        for b in range(here):
            t = first + b
            fetch(inputs.design, cells.other[min(t + AHEAD, len(cells.other) - 1)])
            symbol, column, centre = symbols[t - run[0]], cells.other[t], cells.centre[t]
            position = place_of(readings, level + dot(x, 0, inputs.design, column, vectors))
            near = np.int16(position + HALF)
            root = readings.root[symbol, near if centre < 0 else centre]
            score, log = read(readings.table, symbol, position)
            scale(y, b, root, inputs.design, column, vectors)
            y[b, 0], pull[b, 0], places[t - run[0]] = root, score / root, near
            total += log
        add_rows(gradient, 0, W, 1.0, pull, 0, y, here)
        add_gram(H, W, 1.0, y, here)
    return total


@njit(cache=True, fastmath=FAST, error_model="numpy", inline="always")
def _scores(
    run: tuple[int, int],
    symbols: Symbols,
    cells: ReportRows,
    readings: Readings,
    inputs: Conditional,
    row: Floats,
    x: Floats,
    gradient: Floats,
    places: NDArray[np.int16],
) -> float:
    """Add the scores to the gradient at `row`. Returns the log-likelihood there."""
    vectors, total, of_bias = inputs.design.shape[1] // LANES, 0.0, 0.0
    level, prior = level_of(inputs.mu, row, x), gradient[0, 0]
    for t in range(run[0], run[1]):
        column = cells.other[t]
        position = place_of(readings, level + dot(x, 0, inputs.design, column, vectors))
        score, log = read(readings.table, symbols[t - run[0]], position)
        add_scaled(gradient, 0, score, inputs.design, column, vectors)
        places[t - run[0]] = np.int16(position + HALF)
        total += log
        of_bias += score
    gradient[0, 0] = prior + of_bias
    return total


@njit(cache=True, inline="always")
def _count(run: tuple[int, int], symbols: Symbols, places: NDArray[np.int16], counts: Ints) -> None:
    for t in range(run[1] - run[0]):
        counts[symbols[t], places[t]] += 1


@njit(cache=True, inline="always")
def _add_up(inputs: Conditional, r: int, row: Floats, pulls: Ints, sums: Ints) -> None:
    for k in range(len(row)):
        x = GRAIN * row[k]
        sums[0, k] += np.int64(np.rint(x))
        sums[1, k] += np.int64(np.rint(x * row[k]))
    for j in range(len(pulls)):
        value = GRAIN * inputs.features[r, j]
        for k in range(len(row)):
            pulls[j, k] += np.int64(np.rint(value * row[k]))
