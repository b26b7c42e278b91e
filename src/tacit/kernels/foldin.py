"""Bulk fold-in of many users, equivalent to the device's `tacit.device.profile`.

In double precision and with the same iterations, so that both agree to 1e-9.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import equal_pieces, in_threads, over_pieces, thread_count, thread_pieces
from tacit.kernels.als import largest_first
from tacit.kernels.dense import add_gram, add_rows, factor, padded, solve_lower, solve_transposed
from tacit.kernels.layout import Ints, Side
from tacit.kernels.level_scores import (
    Cells,
    Doubles,
    Longs,
    cells_link,
    level_scores,
    nearest_level,
)
from tacit.kernels.tile import LANES, scale

Floats = NDArray[np.float32]
ROUNDS = 8  # iterations of the cells link, each reducing the error 16-fold


class Home(NamedTuple):
    """One draw of the item side, and every user's prior.

    `items`: shape (items, 1 + K), bias first. `precision`: shape (1 + K,). `prior`: shape (users, 1
    + K). `sigma`: 0 for the linear link, whose noise has unit variance. `shrinkage`: added to the
    precision of factors per rated item, shape (items,), or empty for none.
    """

    mu: float
    items: Floats
    precision: Doubles
    prior: Doubles
    levels: Doubles
    sigma: float
    shrinkage: Floats = np.empty(0, np.float32)


class Room(NamedTuple):
    """Workspace of a thread, for users of at most m ratings, allocated once.

    `H`, `up`, the inverse of its factor's transpose, and `down`, that of the factor: shape (width,
    width). `y`: factors of a user's rated items, in rows or in columns, (m, width). `base`: theta
    without the user's row, (1, m). `theta`, `level`: of each rating, (m,). `score`, `lead`:
    columns, (m, 1). `sums`: (2, width). `share`: (1 + K,). `ones`: (m,).
    """

    H: Doubles
    up: Doubles
    down: Doubles
    y: Doubles
    base: Doubles
    theta: Doubles
    level: Longs
    score: Doubles
    lead: Doubles
    sums: Doubles
    share: Doubles
    ones: Doubles


def fold_in_rows(side: Side, ratings: Doubles, home: Home) -> Doubles:
    """Return every user's row from their true ratings, shape (users, 1 + K).

    Maximises sum_i log Pr(rating_i | theta_ui) - (x - prior)' diag(precision) (x - prior) / 2.
    Linear link: one ridge solve. Cells link: working targets E[theta + sigma e | rating] with
    constant weight 1 / sigma^2, which ascend without step sizes. `ratings`: shape (n,), in the
    order of `side`.
    """
    rows = home.prior.copy()
    link = cells_link(home.levels, home.sigma)
    turns = largest_first(
        side
    )  # the first has the most ratings, which bounds the room of every thread
    threads = thread_count(rows.size + len(side.other) * rows.shape[1])
    in_threads(_fold_rows, threads, threads, turns, side, ratings, home, link, rows)
    return rows


@njit(nogil=True, cache=True)
def _fold_rows(
    thread: int,
    threads: int,
    turns: Longs,
    side: Side,
    ratings: Doubles,
    home: Home,
    link: Cells,
    rows: Doubles,
) -> None:
    W = rows.shape[1]
    longest = int(side.start[turns[0] + 1] - side.start[turns[0]]) if len(turns) else 0
    room, precision = _room(W, longest), np.empty(W)
    for turn in range(thread, len(turns), threads):
        r = turns[turn]
        cells = slice(side.start[r], side.start[r + 1])
        user_ratings, other = ratings[cells], side.other[cells]
        more = _sum_at(home.shrinkage, other) if len(home.shrinkage) else 0.0
        for k in range(W):
            precision[k] = home.precision[k] + (more if k else 0.0)
        if home.sigma > 0 and len(user_ratings) < W:
            _climb_in_tastes(user_ratings, other, home, link, precision, rows[r], room)
        else:
            _climb(user_ratings, other, home, link, precision, rows[r], room)


@njit(cache=True)
def _room(W: int, most: int) -> Room:
    width, m = padded(W), padded(max(most, W))
    square = (width, width)
    return Room(
        np.empty(square), np.empty(square), np.empty(square), np.zeros((m, width)),
        np.empty((1, m)), np.empty(m), np.empty(m, np.int64), np.empty((m, 1)), np.empty((m, 1)),
        np.empty((2, width)), np.empty(W), np.ones(m),
    )  # fmt: skip


@njit(cache=True)
def _sum_at(numbers: Floats, indices: Ints) -> float:
    total = 0.0
    for index in indices:
        total += float(numbers[index])
    return total


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _climb(
    user_ratings: Doubles,
    other: Ints,
    home: Home,
    link: Cells,
    precision: Doubles,
    x: Doubles,
    room: Room,
) -> None:
    """Iterate on the row itself: a system of 1 + K equations."""
    W, n, H, y, theta, step = len(x), len(user_ratings), room.H, room.y, room.theta, room.sums
    prior = x.copy()
    for t in range(n):
        y[t, 0], room.level[t] = 1, nearest_level(home.levels, user_ratings[t])
        for k in range(1, W):
            y[t, k] = home.items[other[t], k]
    _factor_gram(H, precision, 1 / home.sigma**2 if home.sigma else 1.0, y, n)
    for _ in range(ROUNDS if home.sigma else 1):
        for t in range(n):
            theta[t] = home.mu + home.items[other[t], 0] + _dot(y[t, :W], x)
            room.score[t, 0] = user_ratings[t] - theta[t]
        if home.sigma:
            level_scores(link, room.level[:n], theta[:n], room.score[:n, 0])
        for k in range(W):
            step[0, k] = precision[k] * (prior[k] - x[k])
        add_rows(step, 0, W, 1.0, room.score, 0, y, n)
        solve_transposed(H, step[0, :W])
        solve_lower(H, step[0, :W])
        for k in range(W):
            x[k] += step[0, k]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _climb_in_tastes(
    user_ratings: Doubles,
    other: Ints,
    home: Home,
    link: Cells,
    precision: Doubles,
    x: Doubles,
    room: Room,
) -> None:
    """Iterate on theta of the rated items: a system of n equations, for n < 1 + K.

    With Z = Y diag(precision)^-1/2 and d = Y (x - prior), an iteration solves (I + w Z Z') c = v
    for v = w d + scores; then d = (v - c) / w, and x = prior + diag(precision)^-1/2 Z' c.
    """
    n, weight, base, theta = len(user_ratings), 1 / home.sigma**2, room.base[0], room.theta
    _lay_across(user_ratings, other, home, precision, x, room)
    _factor_gram(room.H, room.ones[:n], weight, room.y, len(x))
    _invert(room.H, n, room.up, room.down)
    for t in range(n):
        theta[t] = base[t]
    for _ in range(ROUNDS):
        level_scores(link, room.level[:n], theta[:n], room.score[:n, 0])
        for t in range(n):
            room.score[t, 0] += weight * (theta[t] - base[t])
            room.sums[0, t] = room.sums[1, t] = 0
        add_rows(room.sums, 0, n, 1.0, room.score, 0, room.down, n)
        for t in range(n):
            room.lead[t, 0] = room.sums[0, t]
        add_rows(room.sums, 1, n, 1.0, room.lead, 0, room.up, n)
        for t in range(n):
            theta[t] = base[t] + (room.score[t, 0] - room.sums[1, t]) / weight
    for k in range(len(x)):
        x[k] += room.share[k] * _dot(room.y[k, :n], room.sums[1, :n])


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _lay_across(
    user_ratings: Doubles, other: Ints, home: Home, precision: Doubles, prior: Doubles, room: Room
) -> None:
    """Compute Z', shape (1 + K, n), and each rating's level and theta under the prior."""
    W, n, share = len(prior), len(user_ratings), room.share
    for k in range(W):
        share[k] = 1 / np.sqrt(precision[k])
        room.lead[k, 0] = prior[k] / share[k]
    for t in range(n):
        room.level[t] = nearest_level(home.levels, user_ratings[t])
        room.base[0, t] = home.mu + home.items[other[t], 0]
        room.y[0, t] = share[0]
        for k in range(1, W):
            room.y[k, t] = home.items[other[t], k] * share[k]
    add_rows(room.base, 0, n, 1.0, room.lead, 0, room.y, W)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _invert(L: Doubles, K: int, up: Doubles, down: Doubles) -> None:
    """Compute the inverse of L', shape (K, K), and that of L."""
    for k in range(K - 1, -1, -1):
        for j in range(K):
            up[k, j] = down[k, j] = 0
        up[k, k] = 1
        add_rows(up, k, K, -1.0, L[k + 1 : K], k, up[k + 1 : K], K - 1 - k)
        scale(up, k, 1 / L[k, k], up, k, padded(K) // LANES)
    for k in range(K):
        for j in range(k + 1):
            down[k, j] = up[j, k]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _factor_gram(H: Doubles, diagonal: Doubles, weight: float, y: Doubles, n: int) -> None:
    """Compute and factor H = diag(diagonal) + weight y[:n]' y[:n]."""
    K = len(diagonal)
    H[:K] = 0
    for k in range(K):
        H[k, k] = diagonal[k]
    add_gram(H, K, weight, y, n)
    factor(H, K)


@njit(cache=True, fastmath={"contract", "reassoc"})
def _dot(a: Doubles, b: Doubles) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


def fold_of(side: Side, folds: int) -> Longs:
    """Return the fold of each rating, its position in the profile modulo `folds`; shape (n,)."""
    first = np.repeat(side.start[:-1], side.counts)
    return (np.arange(len(side.other)) - first) % folds


def rows_without_fold(
    side: Side, targets: Doubles, items: Doubles, precision: Doubles, folds: int
) -> Doubles:
    """Return ridge rows (level, factors) fitted without one fold, shape (users x folds, 1 + K).

    Row u F + f minimises sum_j (targets_uj - x . (1, items_j))^2 + x' diag(precision) x over the
    ratings of u outside fold f. `targets`: shape (n,), in the order of `side`. `items`: shape
    (items, K). `precision`: shape (1 + K,), above 0.
    """
    rows = np.zeros((folds * (len(side.start) - 1), len(precision)))
    pieces = thread_pieces(side.start)
    items = np.ascontiguousarray(items)
    over_pieces(_solve_without, pieces, side, targets, items, precision, folds, rows)
    return rows


@njit(nogil=True, cache=True)
def _solve_without(
    piece: int,
    pieces: Longs,
    side: Side,
    targets: Doubles,
    items: Doubles,
    precision: Doubles,
    folds: int,
    rows: Doubles,
) -> None:
    width = len(precision)
    for u in range(pieces[piece], pieces[piece + 1]):
        first, last = side.start[u], side.start[u + 1]
        H = np.zeros((folds, padded(width), padded(width)))
        g = np.zeros((folds, width))
        _add_ratings(side.other[first:last], targets[first:last], items, H, g)
        all_H, all_g = H.sum(axis=0), g.sum(axis=0)
        for k in range(width):
            all_H[k, k] += precision[k]
        for f in range(min(folds, last - first)):
            rest, x = all_H - H[f], all_g - g[f]
            factor(rest, width)
            solve_transposed(rest, x)
            solve_lower(rest, x)
            for k in range(width):
                rows[u * folds + f, k] = x[k]


@njit(cache=True)
def _add_ratings(other: Ints, targets: Doubles, items: Doubles, H: Doubles, g: Doubles) -> None:
    y = np.ones(g.shape[1])
    for t in range(len(other)):
        f = t % len(g)
        for k in range(1, len(y)):
            y[k] = items[other[t], k - 1]
        for k in range(len(y)):
            g[f, k] += y[k] * targets[t]
            for j in range(k + 1):
                H[f, k, j] += y[k] * y[j]


def prior_means(features: Doubles, weights: Doubles) -> Doubles:
    """Return features @ weights, shapes (users, F) and (F, 1 + K).

    A row's result depends on that row alone; a library's product may sum in another order for
    another number of rows.
    """
    means = np.zeros((len(features), weights.shape[1]))
    pieces = equal_pieces(len(features), weights.size)
    over_pieces(_add_means, pieces, features, weights, means)
    return means


@njit(nogil=True, cache=True, fastmath={"contract"})
def _add_means(
    piece: int, pieces: Longs, features: Doubles, weights: Doubles, means: Doubles
) -> None:
    for row in range(pieces[piece], pieces[piece + 1]):
        mine = means[row]
        for f in range(len(weights)):
            for k in range(len(mine)):
                mine[k] += features[row, f] * weights[f, k]
