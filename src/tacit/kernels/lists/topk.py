"""The k best items of many people at once: of inner products, or of any scores, block by block.

A block's scores are scanned once. Ties go to the lower code, whatever the block.
"""

from collections.abc import Callable

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.kernels.dense import FAST
from tacit.kernels.layout import Side
from tacit.kernels.tile import LANES, tile

Floats = NDArray[np.float32]
Codes = NDArray[np.int32]
Scorer = Callable[[slice], Floats]
"""Scores of all items for a slice of the people, shape (people of the slice, items)."""

HIGH, PANEL = 8, 2 * LANES  # people and items whose scores are summed together
PEOPLE, STRIP = 8 * HIGH, 16 * PANEL  # whose scores lie in a second-level cache until scanned
STRIDE = 64  # scores looked at together; most such runs hold nothing better than the k-th best

BLOCK_BYTES = 64 << 20  # of scores that a scorer lays out at a time

_add_products = tile(HIGH, 2)


def top_k(people: Floats, items: Floats, seen: Side, k: int = 10) -> tuple[Codes, Floats]:
    """Items with the k largest people @ items.T, without the items in `seen`, best first.

    `people`: shape (m, K). `items`: shape (n, K). `seen`: grouped by person, items ascending, as
    a layout has them. Returns codes and scores of shape (m, k); -1 and -inf where a person has
    fewer than k items left. Ties by code.
    """
    codes = np.full((len(people), k), -1, np.int32)
    scores = np.full((len(people), k), -np.inf, np.float32)
    _scan(people, panels(items), len(items), seen.start, seen.other, codes, scores)
    return codes, scores


def best_lists(score: Scorer, seen: Side, n_items: int, k: int) -> Codes:
    """Each person's k items of the largest scores, without those in `seen`, best first.

    `score` is asked for slices of people in order, each of at most 64 MiB of scores (one person at
    least), and may give views: nothing is written to them. `seen`: grouped by person, items
    ascending, one row for everybody who gets a list. Ties by code, lower first; -1 where a person
    has fewer than k items left. Shape (people, k). Raises `RequestError` for k below 1 and for a
    score that is not finite, also of an item that was seen.
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
        _scan_scores(scores, seen.start[some.start : some.stop + 1], seen.other, codes[some], sound)
        if not sound.all():
            raise RequestError("The model predicted a score that is not finite.")
    return codes


@njit(parallel=True, cache=True)
def _scan_scores(
    scores: Floats,
    start: NDArray[np.int64],
    seen: Codes,
    codes: Codes,
    sound: NDArray[np.bool_],
) -> None:
    k = codes.shape[1]
    for r in prange(len(scores)):
        row = scores[r].copy()
        sound[r] = all_finite(row)
        for t in range(start[r], start[r + 1]):
            row[seen[t]] = -np.inf
        best = np.empty(k, np.float32)
        best[:] = -np.inf
        keep_best(row, 0, codes[r], best)


@njit(cache=True)
def all_finite(row: Floats) -> bool:
    """Whether no score is infinite or nan; without a branch, so that it runs in wide registers."""
    odd = 0
    for score in row:
        odd |= not np.isfinite(score)
    return odd == 0


def panels(items: Floats) -> Floats:
    """The items in panels, factors by items, shape (panels, K, PANEL); the last filled up."""
    n, K = items.shape
    filled = np.zeros((-(-n // PANEL), PANEL, K), np.float32)
    filled.reshape(len(filled) * PANEL, K)[:n] = items
    return np.ascontiguousarray(filled.transpose(0, 2, 1))


@njit(parallel=True, cache=True)
def _scan(
    people: Floats,
    factors_of: Floats,
    n: int,
    start: NDArray[np.int64],
    seen: Codes,
    codes: Codes,
    scores: Floats,
) -> None:
    for block in prange((len(people) + PEOPLE - 1) // PEOPLE):
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
    factors[:, : len(people)] = people.T
    products = np.empty((PEOPLE, STRIP), np.float32)
    at = start[:-1].copy()  # each person's next seen item
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
    """Put items a, a + 1, .. with the scores in `row` in their places among the best."""
    for b in range(0, len(row), STRIDE):
        run = row[b : b + STRIDE]
        if largest(run) > scores[-1]:
            for j in range(len(run)):
                if run[j] > scores[-1]:
                    _insert(codes, scores, a + b + j, run[j])


@njit(cache=True, fastmath=FAST | {"reassoc"})
def largest(run: Floats) -> np.float32:
    """The largest of scores that are not nan; of none, less than any."""
    best = np.float32(-3e38)
    for j in range(len(run)):
        best = max(best, run[j])
    return best


@njit(cache=True)
def _insert(codes: Codes, scores: Floats, code: int, score: np.float32) -> None:
    place = len(codes) - 1
    while place > 0 and scores[place - 1] < score:
        codes[place], scores[place] = codes[place - 1], scores[place - 1]
        place -= 1
    codes[place], scores[place] = code, score
