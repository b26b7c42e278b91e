"""Everybody's best items by weights between items, in one pass: scores never leave the caches.

A person's scores are sums over what they have, of low rank and over sparse links. Items are taken
in strips and people in blocks, so that a block's scores of a strip lie in a second-level cache
while products, links and the search for the best pass over them, and a strip's links and factors
in a third-level one while all people do.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.kernels.layout import Side
from tacit.kernels.lists.topk import HIGH, PANEL, all_finite, keep_best, panels
from tacit.kernels.tile import tile

Floats = NDArray[np.float32]
Codes = NDArray[np.int32]
Places = NDArray[np.int64]

PEOPLE, STRIP = 8 * HIGH, 32 * PANEL  # whose scores lie in a second-level cache until scanned

_add_products = tile(HIGH, 2)


class Links(NamedTuple):
    """Scores of item j for a person: level_j + taste . items_j + sum of links_ij over their i.

    `level`: shape (n,). `tastes`: (people, K). `items`: (n, K), K may be 0. `links`: (n, n),
    columns ascending in every row.
    """

    level: Floats
    tastes: Floats
    items: Floats
    links: csr_array


def linked_lists(own: Side, by: Links, k: int) -> Codes:
    """Each person's k items of the largest scores, without their own, best first, ties by code.

    `own`: what people have, grouped by person, items ascending. Shape (people, k), -1 where fewer
    items are left. Raises `RequestError` for k below 1 and for a score that is not finite.
    """
    if k < 1:
        raise RequestError(f"A list of {k} items is none; ask for 1 or more.")
    n = len(by.level)
    codes = np.full((len(own.counts), k), -1, np.int32)
    best = np.full(codes.shape, -np.inf, np.float32)
    sound = np.ones(len(codes), np.bool_)
    bounds = _bounds(by.links.indptr.astype(np.int64), by.links.indices, n)
    seen = own.start[:-1].copy()
    factors = panels(by.items)
    for strip in range(len(bounds) - 1):
        _scan(
            strip, by.level, by.tastes, factors,
            bounds[strip], bounds[strip + 1], by.links.indices, by.links.data,
            own.start, own.other, seen, codes, best, sound,
        )  # fmt: skip
    if not sound.all():
        raise RequestError("A model scored an item with a number that is not finite.")
    return codes


@njit(parallel=True, cache=True)
def _bounds(start: Places, column: Codes, n: int) -> Places:
    """Where each row's links into each strip begin, and where the last end: (strips + 1, n)."""
    strips = (n + STRIP - 1) // STRIP
    bounds = np.empty((strips + 1, n), np.int64)
    for i in prange(n):
        t = start[i]
        for strip in range(strips + 1):
            while t < start[i + 1] and column[t] < strip * STRIP:
                t += 1
            bounds[strip, i] = t
    return bounds


@njit(parallel=True, cache=True)
def _scan(
    strip: int,
    level: Floats,
    tastes: Floats,
    factors: Floats,
    first: Places,
    last: Places,
    column: Codes,
    weight: Floats,
    start: Places,
    other: Codes,
    seen: Places,
    codes: Codes,
    best: Floats,
    sound: NDArray[np.bool_],
) -> None:
    a = strip * STRIP
    width = min(STRIP, len(level) - a)
    for block in prange((len(codes) + PEOPLE - 1) // PEOPLE):
        low = block * PEOPLE
        high = min(low + PEOPLE, len(codes))
        scores = np.empty((PEOPLE, STRIP), np.float32)
        scores[:, :width] = level[a : a + width]
        _add_low_rank(scores, tastes[low:high], factors[a // PANEL :], width)
        for u in range(low, high):
            row = scores[u - low, :width]
            _add_links(row, a, other[start[u] : start[u + 1]], first, last, column, weight)
            sound[u] &= all_finite(row)
            while seen[u] < start[u + 1] and other[seen[u]] < a + width:
                row[other[seen[u]] - a] = -np.inf
                seen[u] += 1
            keep_best(row, a, codes[u], best[u])


@njit(cache=True)
def _add_low_rank(scores: Floats, tastes: Floats, factors: Floats, width: int) -> None:
    K = tastes.shape[1]
    by_factor = np.zeros((K, PEOPLE), np.float32)
    by_factor[:, : len(tastes)] = tastes.T
    for j in range(0, width, PANEL):
        for i in range(0, len(tastes), HIGH):
            _add_products(scores, i, j, 1.0, by_factor, i, factors[j // PANEL], 0, K)


@njit(cache=True)
def _add_links(
    row: Floats,
    a: int,
    own: Codes,
    first: Places,
    last: Places,
    column: Codes,
    weight: Floats,
) -> None:
    for item in own:
        for s in range(first[item], last[item]):
            row[column[s] - a] += weight[s]
