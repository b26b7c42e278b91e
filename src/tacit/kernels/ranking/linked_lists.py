"""Top items by item-item links and factors, where most items need no inner product.

A user's score of an item is the sum of links from their items, plus an inner product of factors.
Links are few and all added. The product is at most the product of norms (Cauchy-Schwarz): items are
grouped in panels by norm, largest first, and a panel is skipped if its largest sum of links plus
the bound is below the user's k-th best score.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.kernels import equal_pieces, over_pieces
from tacit.kernels.layout import Side
from tacit.kernels.ranking.topk import PANEL, all_finite, largest, panels
from tacit.kernels.tile import tile

Floats = NDArray[np.float32]
Codes = NDArray[np.int32]
Places = NDArray[np.int64]

ROUNDED = np.float32(1 + 1e-4)
"""Factor by which a computed product may exceed the bound, due to single precision."""

_add_product = tile(1, 2)


class LinkedScores(NamedTuple):
    """Score of item j for a user: level_j + taste . items_j + sum of links_ij over their items i.

    `level`: shape (n,). `tastes`: (users, K). `items`: (n, K). `links`: (n, n). All single
    precision.
    """

    level: Floats
    tastes: Floats
    items: Floats
    links: csr_array


def linked_lists(owned: Side, by: LinkedScores, k: int) -> Codes:
    """Return each user's k items of the largest scores, without their own, best first.

    Ties by code. `owned`: the users' items, grouped by user. Shape (users, k), padded with -1.

    Raises `RequestError` for k below 1 and for a score that is not finite.
    """
    if k < 1:
        raise RequestError(f"k must be an integer of at least 1, got {k}.")
    codes = np.full((len(owned.counts), k), -1, np.int32)
    squares = np.einsum("nk,nk->n", by.items, by.items, dtype=np.float64)
    lengths = np.sqrt(squares).astype(np.float32)
    order = np.argsort(-lengths, kind="stable").astype(np.int32)
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order), dtype=np.int32)
    sound = np.ones(len(codes), np.bool_)
    pieces = equal_pieces(len(codes), by.items.size)
    over_pieces(
        _scan_links,
        pieces,
        owned.start,
        owned.other,
        by.links.indptr.astype(np.int64),
        positions[by.links.indices],
        by.links.data,
        by.level[order],
        by.tastes,
        panels(by.items[order]),
        lengths[order[::PANEL]] * ROUNDED,
        positions,
        order,
        codes,
        sound,
    )
    if not (sound.all() and np.isfinite(lengths).all()):
        raise RequestError("The model predicted a non-finite score.")
    return codes


@njit(nogil=True, cache=True)
def _scan_links(
    piece: int,
    pieces: Places,
    start: Places,
    other: Codes,
    first: Places,
    position: Codes,
    weight: Floats,
    level: Floats,
    tastes: Floats,
    factors: Floats,
    lengths: Floats,
    positions: Codes,
    order: Codes,
    codes: Codes,
    sound: NDArray[np.bool_],
) -> None:
    for u in range(pieces[piece], pieces[piece + 1]):
        user_items, taste = other[start[u] : start[u + 1]], tastes[u]
        row = np.zeros(len(factors) * PANEL, np.float32)
        for j in range(len(level)):
            row[j] = level[j]
        for item in user_items:
            for t in range(first[item], first[item + 1]):
                row[position[t]] += weight[t]
        sound[u] = all_finite(row) and all_finite(taste)
        row[len(level) :] = -np.inf
        for item in user_items:
            row[positions[item]] = -np.inf
        best = np.full(codes.shape[1], -np.inf, np.float32)
        _search(row, taste, factors, lengths, order, codes[u], best)
        sound[u] &= not best[0] > np.finfo(np.float32).max


@njit(cache=True)
def _search(
    row: Floats,
    taste: Floats,
    factors: Floats,
    lengths: Floats,
    order: Codes,
    codes: Codes,
    best: Floats,
) -> None:
    long = np.sqrt((taste * taste).sum())
    by_factor = taste.copy().reshape(len(taste), 1)
    sums = np.empty((1, PANEL), np.float32)
    for panel in range(len(lengths)):
        run = row[panel * PANEL : (panel + 1) * PANEL]
        if largest(run) + long * lengths[panel] < best[-1]:
            continue
        sums[:] = 0
        _add_product(sums, 0, 0, 1.0, by_factor, 0, factors[panel], 0, len(taste))
        for j in range(PANEL):
            score = run[j] + sums[0, j]
            if score >= best[-1] and score > -np.inf:
                _insert_link(codes, best, order[panel * PANEL + j], score)


@njit(cache=True)
def _insert_link(codes: Codes, best: Floats, code: int, score: np.float32) -> None:
    """Insert an item in order of decreasing score, ties by code; drop it after the last."""
    index = len(codes)
    while index > 0 and _before(score, code, best[index - 1], codes[index - 1]):
        index -= 1
    if index == len(codes):
        return
    for j in range(len(codes) - 1, index, -1):
        codes[j], best[j] = codes[j - 1], best[j - 1]
    codes[index], best[index] = code, score


@njit(cache=True)
def _before(score: np.float32, code: int, other: np.float32, other_code: int) -> bool:
    return bool(score > other or (score == other and code < other_code))
