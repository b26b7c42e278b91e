"""The k best items of many people at once: exact inner products in blocks, one scan each."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from tacit.kernels.layout import Side

Floats = NDArray[np.float32]
Codes = NDArray[np.int32]
BLOCK = 1024  # people at a time: large enough that packing the items is paid once for many
STRIDE = 64  # scores looked at together; most such runs hold nothing better than the k-th best


def top_k(people: Floats, items: Floats, seen: Side, k: int = 10) -> tuple[Codes, Floats]:
    """Items with the k largest people @ items.T, without the items in `seen`, best first.

    `people`: shape (m, K). `items`: shape (n, K). `seen`: grouped by person. Returns codes and
    scores of shape (m, k); -1 and -inf where a person has fewer than k items left. Ties by code.
    """
    codes = np.full((len(people), k), -1, np.int32)
    scores = np.full((len(people), k), -np.inf, np.float32)
    transposed = np.ascontiguousarray(items.T, np.float32)
    work = np.empty((BLOCK, len(items)), np.float32)
    for first in range(0, len(people), BLOCK):
        last = min(first + BLOCK, len(people))
        block = work[: last - first]
        np.matmul(people[first:last], transposed, out=block)
        _select(block, first, seen.start, seen.other, codes[first:last], scores[first:last])
    return codes, scores


@njit(parallel=True, cache=True)
def _select(
    block: Floats, first: int, start: NDArray[np.int64], seen: Codes, codes: Codes, scores: Floats
) -> None:
    for r in prange(len(block)):
        row = block[r]
        for t in range(start[first + r], start[first + r + 1]):
            row[seen[t]] = -np.inf
        for a in range(0, len(row), STRIDE):
            run = row[a : a + STRIDE]
            if _largest(run) > scores[r, -1]:
                for j in range(len(run)):
                    if run[j] > scores[r, -1]:
                        _insert(codes[r], scores[r], a + j, run[j])


@njit(cache=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest(run: Floats) -> np.float32:
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
