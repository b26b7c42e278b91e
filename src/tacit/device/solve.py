"""Fold-in of one user from their true ratings, with the standard library only.

Maximises  sum_i log Pr(rating_i | theta_ui) - (x - prior)' diag(precision) (x - prior) / 2. Linear
link: one ridge solve. Cells link: working targets E[theta + sigma e | rating] with constant weight
1 / sigma^2, which ascend without step sizes. A model's shrinkage of every own item is added to the
precision of factors.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import mul

from tacit.wire.item_model import ItemDraw

ROUNDS = 8  # iterations of the cells link, each reducing the error several-fold
Row = list[float]
Known = Sequence[tuple[int, float]]


def theta(draw: ItemDraw, x: Row, index: int | None) -> float:
    """Return mu + x[0] + item_bias + x[1:] . item_factors; without an item, the user's level."""
    if index is None:
        return draw.mu + x[0]
    K = len(x) - 1
    factors = draw.item_factors[index * K : (index + 1) * K]
    return draw.mu + draw.item_bias[index] + x[0] + sum(map(mul, x[1:], factors))


def linear_row(draw: ItemDraw, known: Known, prior: Row) -> Row:
    """Return the row under the linear link, whose noise has unit variance."""
    return _climb(draw, known, prior, 1.0, 1, lambda taste, rating: rating - taste)


def ordinal_row(
    draw: ItemDraw, known: Known, prior: Row, levels: Sequence[float], sigma: float
) -> Row:
    """Return the row under the cells link."""
    return _climb(
        draw,
        known,
        prior,
        1 / sigma**2,
        ROUNDS,
        lambda taste, r: level_score(taste, r, levels, sigma),
    )


def expected(taste: float, levels: Sequence[float], sigma: float) -> float:
    """Return E[rating | theta] = top - sum_k (g_k+1 - g_k) Phi((c_k - theta) / sigma).

    c_k: midpoints of the levels.
    """
    total = levels[-1]
    for low, high in pairwise(levels):
        total -= (high - low) * _mass(((low + high) / 2 - taste) / sigma)
    return total


def level_score(taste: float, rating: float, levels: Sequence[float], sigma: float) -> float:
    """Return d log Pr(rating | theta) / d theta; the outermost cells extend to infinity."""
    half = (levels[-1] - levels[0]) / (len(levels) - 1) / 2
    low, high = (rating - half - taste) / sigma, (rating + half - taste) / sigma
    below, rise = (0.0, 0.0) if rating == levels[0] else (_mass(low), _density(low))
    above, fall = (1.0, 0.0) if rating == levels[-1] else (_mass(high), _density(high))
    return (rise - fall) / (sigma * max(above - below, 1e-12))


def _climb(
    draw: ItemDraw,
    known: Known,
    prior: Row,
    weight: float,
    rounds: int,
    score: Callable[[float, float], float],
) -> Row:
    K, x = len(prior) - 1, list(prior)
    designs = [[1.0, *draw.item_factors[index * K : (index + 1) * K]] for index, _ in known]
    precision = _precision(draw, known)
    L = _cholesky(_gram(designs, precision, weight))
    for _ in range(rounds):
        step = [-t * (a - b) for t, a, b in zip(precision, x, prior, strict=True)]
        for y, (index, rating) in zip(designs, known, strict=True):
            pull = score(theta(draw, x, index), rating)
            step = [s + pull * v for s, v in zip(step, y, strict=True)]
        x = [a + s for a, s in zip(x, _solved(L, step), strict=True)]
    return x


def _precision(draw: ItemDraw, known: Known) -> Row:
    if not draw.shrinkage:
        return list(draw.precision)
    more = sum(draw.shrinkage[index] for index, _ in known)
    return [draw.precision[0], *(value + more for value in draw.precision[1:])]


def _gram(designs: Sequence[Row], precision: Sequence[float], weight: float) -> list[Row]:
    width = len(precision)
    H = [[precision[k] if j == k else 0.0 for j in range(k + 1)] for k in range(width)]
    for y in designs:
        for k in range(width):
            for j in range(k + 1):
                H[k][j] += weight * y[k] * y[j]
    return H


def _cholesky(H: list[Row]) -> list[Row]:
    for k, row in enumerate(H):
        for j in range(k + 1):
            total = row[j] - sum(row[c] * H[j][c] for c in range(j))
            row[j] = math.sqrt(total) if j == k else total / H[j][j]
    return H


def _solved(L: list[Row], b: Row) -> Row:
    x = list(b)
    for k, row in enumerate(L):
        x[k] = (x[k] - sum(row[j] * x[j] for j in range(k))) / row[k]
    for k in reversed(range(len(L))):
        x[k] = (x[k] - sum(L[j][k] * x[j] for j in range(k + 1, len(L)))) / L[k][k]
    return x


def _mass(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
