"""Top-k items of many users: by inner products, or by any scores, block by block.

A block's scores are scanned once. Ties go to the lower code, whatever the block.
"""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels import equal_pieces, over_pieces
from tacit.kernels.dense import FAST
from tacit.kernels.layout import Side
from tacit.kernels.tile import LANES, tile

Floats = NDArray[np.float32]
Codes = NDArray[np.int32]
Places = NDArray[np.int64]
Scorer = Callable[[slice], Floats]
"""Return the scores of all items for a slice of the users, shape (users of the slice, items)."""

HIGH, PANEL = 8, 2 * LANES  # users and items per tile of products
PEOPLE, STRIP = 8 * HIGH, 16 * PANEL  # users and items per block, which fits in the L2 cache
STRIDE = 64  # scores tested at once; most such runs contain no score above the k-th best

BLOCK_BYTES = 64 << 20  # bytes of scores per block

_add_products = tile(HIGH, 2)


def top_k(people: Floats, items: Floats, seen: Side, k: int = 10) -> tuple[Codes, Floats]:
    """Return items with the k largest people @ items.T, without the items in `seen`, best first.

    `people`: shape (m, K). `items`: shape (n, K). `seen`: grouped by user, items ascending, as in a
    layout. Returns codes and scores of shape (m, k), padded with -1 and -inf. Ties by code.
    """
    codes = np.full((len(people), k), -1, np.int32)
    scores = np.full((len(people), k), -np.inf, np.float32)
    pieces = equal_pieces(-(-len(people) // PEOPLE), PEOPLE * items.size)
    over_pieces(
        _scan,
        pieces,
        people,
        panels(items),
        len(items),
        seen.start,
        seen.other,
        codes,
        scores,
    )
    return codes, scores


def best_lists(score: Scorer, seen: Side, n_items: int, k: int) -> Codes:
    """Return each user's k items of the largest scores, without those in `seen`, best first.

    `score` is called for consecutive slices of users, each of at most 64 MiB of scores (at least
    one user), and may return views: they are not modified. `seen`: grouped by user, items
    ascending, one row for every user with a list. Ties by code, lower first; padded with -1. Shape
    (users, k). Raises `RequestError` for k below 1 and for a score that is not finite, including
    scores of seen items.
    """
    if k < 1:
        raise RequestError(f"k must be an integer of at least 1, got {k}.")
    people = len(seen.counts)
    codes = np.full((people, k), -1, np.int32)
    size = max(1, BLOCK_BYTES // (4 * max(1, n_items)))
    for first in range(0, people, size):
        some = slice(first, min(first + size, people))
        scores = np.ascontiguousarray(score(some), dtype=np.float32)
        sound = np.empty(len(scores), np.bool_)
        starts, pieces = seen.start[some.start : some.stop + 1], equal_pieces(*scores.shape)
        over_pieces(_scan_scores, pieces, scores, starts, seen.other, codes[some], sound)
        if not sound.all():
            raise RequestError("The model predicted a non-finite score.")
    return codes


@njit(nogil=True, cache=True)
def _scan_scores(
    piece: int,
    pieces: Places,
    scores: Floats,
    start: NDArray[np.int64],
    seen: Codes,
    codes: Codes,
    sound: NDArray[np.bool_],
) -> None:
    k = codes.shape[1]
    for r in range(pieces[piece], pieces[piece + 1]):
        row = scores[r].copy()
        sound[r] = all_finite(row)
        for t in range(start[r], start[r + 1]):
            row[seen[t]] = -np.inf
        best = np.empty(k, np.float32)
        best[:] = -np.inf
        keep_best(row, 0, codes[r], best)


@njit(cache=True)
def all_finite(row: Floats) -> bool:
    """Return whether all scores are finite; without a branch, so that it is vectorized."""
    odd = 0
    for score in row:
        odd |= not np.isfinite(score)
    return odd == 0


def panels(items: Floats) -> Floats:
    """Return the items in panels, factors by items, shape (panels, K, PANEL), zero-padded."""
    n, K = items.shape
    filled = np.zeros((-(-n // PANEL), PANEL, K), np.float32)
    filled.reshape(len(filled) * PANEL, K)[:n] = items
    return np.ascontiguousarray(filled.transpose(0, 2, 1))


@njit(nogil=True, cache=True)
def _scan(
    piece: int,
    pieces: Places,
    people: Floats,
    factors_of: Floats,
    n: int,
    start: NDArray[np.int64],
    seen: Codes,
    codes: Codes,
    scores: Floats,
) -> None:
    for block in range(pieces[piece], pieces[piece + 1]):
        some = slice(block * PEOPLE, min((block + 1) * PEOPLE, len(people)))
        bounds = start[some.start : some.stop + 1]
        _scan_block(people[some], factors_of, n, bounds, seen, codes[some], scores[some])


@njit(cache=True)
def _scan_block(
    people: Floats,
    factors_of: Floats,
    n: int,
    start: NDArray[np.int64],
    seen: Codes,
    codes: Codes,
    scores: Floats,
) -> None:
    K = factors_of.shape[1]
    factors = np.zeros((K, PEOPLE), np.float32)
    for r in range(len(people)):
        for k in range(K):
            factors[k, r] = people[r, k]
    products = np.empty((PEOPLE, STRIP), np.float32)
    at = start[:-1].copy()  # each user's next seen item
    for a in range(0, n, STRIP):
        products[:] = 0
        for j in range(0, min(STRIP, n - a), PANEL):
            for i in range(0, len(people), HIGH):
                _add_products(products, i, j, 1.0, factors, i, factors_of[(a + j) // PANEL], 0, K)
        for r in range(len(people)):
            row = products[r, : n - a]
            while at[r] < start[r + 1] and seen[at[r]] < a + len(row):
                row[seen[at[r]] - a] = -np.inf
                at[r] += 1
            keep_best(row, a, codes[r], scores[r])


@njit(cache=True)
def keep_best(row: Floats, a: int, codes: Codes, scores: Floats) -> None:
    """Insert items a, a + 1, .. with the scores in `row` among the best."""
    for b in range(0, len(row), STRIDE):
        run = row[b : b + STRIDE]
        if largest(run) > scores[-1]:
            for j in range(len(run)):
                if run[j] > scores[-1]:
                    _insert(codes, scores, a + b + j, run[j])


@njit(cache=True, fastmath=FAST | {"reassoc"})
def largest(run: Floats) -> np.float32:
    """Return the largest of scores that are not NaN; -3e38 for none."""
    best = np.float32(-3e38)
    for j in range(len(run)):
        best = max(best, run[j])
    return best


@njit(cache=True)
def _insert(codes: Codes, scores: Floats, code: int, score: np.float32) -> None:
    index = len(codes) - 1
    while index > 0 and scores[index - 1] < score:
        codes[index], scores[index] = codes[index - 1], scores[index - 1]
        index -= 1
    codes[index], scores[index] = code, score
