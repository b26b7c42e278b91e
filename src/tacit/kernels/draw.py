"""Bulk draws from 64-bit words, exactly as on a device: symbols, and own messages of bundles."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import Longs, equal_pieces, over_pieces
from tacit.kernels.layout import Side

GUIDE_BITS = 12
SCAN = np.uint16(1 << 15)
"""Flag of guide entries whose bucket contains a bound: the entry is then only the first symbol."""

Doubles = NDArray[np.float64]
Words = NDArray[np.uint64]
Unsigned = NDArray[np.unsignedinteger[Any]]


class Rows(NamedTuple):
    """Stacked rows of bounds: row r has `counts[r]` of them in `bounds[r]`, scaled to 64 bits.

    `guide[r, top]` is the symbol of every word whose top bits are `top`, or, flagged with `SCAN`,
    the first symbol that such a word can have.
    """

    bounds: Words
    counts: NDArray[np.int64]
    guide: NDArray[np.uint16]


def stacked(rows: Sequence[Sequence[int]], word_bits: Sequence[int]) -> Rows:
    """Stack rows of ascending bounds, row r being of `word_bits[r]`-bit words.

    The guide only saves time: buckets that contain a bound are compared in full.
    """
    first = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
    last = first + np.uint64((1 << (64 - GUIDE_BITS)) - 1)
    bounds = np.zeros((len(rows), max(map(len, rows))), np.uint64)
    guide = np.empty((len(rows), len(first)), np.uint16)
    for number, (row, bits) in enumerate(zip(rows, word_bits, strict=True)):
        ends = np.array(row, np.uint64) << np.uint64(64 - bits)
        bounds[number, : len(ends)] = ends
        low = np.searchsorted(ends, first, side="right").astype(np.uint16)
        high = np.searchsorted(ends, last, side="right").astype(np.uint16)
        guide[number] = np.where(low == high, low, low | SCAN)
    return Rows(bounds, np.array([len(row) for row in rows]), guide)


def draw_symbols(words: Words, rows: Unsigned, table: Rows, symbols: Unsigned) -> None:
    """Compute symbols[i] = number of bounds of row rows[i] that are <= words[i].

    `words`, `rows` and `symbols`: shape (n,).
    """
    pieces = equal_pieces(len(words), 1)
    over_pieces(_draw_symbols, pieces, words, rows, table, symbols)


@njit(nogil=True, cache=True)
def _draw_symbols(
    piece: int, pieces: Longs, words: Words, rows: Unsigned, table: Rows, symbols: Unsigned
) -> None:
    shift = np.uint64(64 - GUIDE_BITS)
    for i in range(pieces[piece], pieces[piece + 1]):
        row, word = rows[i], words[i]
        entry = table.guide[row, word >> shift]
        symbol = np.int64(entry & 0x7FFF)
        if entry & 0x8000:
            while symbol < table.counts[row] and word >= table.bounds[row, symbol]:
                symbol += 1
        symbols[i] = symbol


Symbols = NDArray[np.unsignedinteger[Any]]


def count_reported(symbols: Symbols, silent: Longs, counts: Longs) -> None:
    """Compute counts[p] = number of `symbols[p]` (users, slots) that differ from `silent[p]`.

    `silent` and `counts`: shape (users,).
    """
    pieces = equal_pieces(*symbols.shape)
    over_pieces(_count_reported, pieces, symbols, silent, counts)


@njit(nogil=True, cache=True)
def _count_reported(
    piece: int, pieces: Longs, symbols: Symbols, silent: Longs, counts: Longs
) -> None:
    for p in range(pieces[piece], pieces[piece + 1]):
        count = 0
        for symbol in symbols[p]:
            count += symbol != silent[p]
        counts[p] = count


def take_reported(
    symbols: Symbols,
    silent: Longs,
    starts: Longs,
    slots: NDArray[np.int32],
    reported: Symbols,
) -> None:
    """Write slot numbers and symbols that differ from `silent[p]`, user p's from `starts[p]` on.

    `starts`: shape (users,); `slots` and `reported`: (reports,).
    """
    pieces = equal_pieces(*symbols.shape)
    over_pieces(_take_reported, pieces, symbols, silent, starts, slots, reported)


@njit(nogil=True, cache=True)
def _take_reported(
    piece: int,
    pieces: Longs,
    symbols: Symbols,
    silent: Longs,
    starts: Longs,
    slots: NDArray[np.int32],
    reported: Symbols,
) -> None:
    for p in range(pieces[piece], pieces[piece + 1]):
        # Always written, reported or not: an unpredictable branch is slower.
        mine = np.empty(symbols.shape[1] + 1, np.int32)
        count = 0
        for slot in range(symbols.shape[1]):
            mine[count] = slot
            count += symbols[p, slot] != silent[p]
        for k in range(count):
            slots[starts[p] + k] = mine[k]
            reported[starts[p] + k] = symbols[p, mine[k]]


# Own messages in a round of shuffled messages, as `tacit.device.shuffled.bundle` draws them.

SPARE = 64
"""Words for redraws per call. A word is redrawn with a probability below 2^-32."""


def words_needed(users: Side, messages: int, *, pairs: bool) -> int:
    """Return the number of words that `count_messages` requires for these users."""
    sizes = users.counts.astype(np.int64)
    sizes = sizes * (sizes - 1) // 2 if pairs else sizes
    return int(np.minimum(sizes, messages).sum()) + SPARE


def count_messages(users: Side, messages: int, words: Words, counts: Longs, *, pairs: bool) -> int:
    """Add at most `messages` distinct own buckets of each user to `counts`.

    `users`: items of each user. Buckets are items, or `pairs` of them as on a device. `words`:
    uniform, `words_needed` of them. `counts`: shape (buckets,). Returns the number of messages,
    which uniform ones fill up to `messages` per user.
    """
    return int(_count_messages(users.start, users.other, messages, words, counts, pairs))


def count_signed_pairs(
    users: Side, deviations: Doubles, prior: int, messages: int, words: Words, counts: Longs
) -> int:
    """Add at most `messages` distinct own pairs of each user to `counts`, each with its sign.

    `users`: items of each user. `deviations`: of the ratings from item means, in the same order,
    integers below 2^53 and so exact. `prior`: of a user's level (`tacit.device.shuffled.signs`).
    `words`: uniform, `words_needed` of them. `counts`: those of pairs with the sign -, and then as
    many with the sign +. Returns the number of messages.
    """
    start, items = users.start, users.other
    return int(_count_signed_pairs(start, items, deviations, prior, messages, words, counts))


@njit(nogil=True, cache=True)
def _count_messages(
    start: Longs,
    items: NDArray[np.int32],
    messages: int,
    words: Words,
    counts: Longs,
    pairs: bool,
) -> int:
    at, total = 0, 0
    chosen = np.empty(messages, np.int64)
    for user in range(len(start) - 1):
        first = start[user]
        size = start[user + 1] - first
        if pairs:
            size = size * (size - 1) // 2
        sent, at = _subset(size, words, at, chosen)
        for index in chosen[:sent]:
            if pairs:
                one, other = _pair(index)
                low, top = _ordered(items, first + one, first + other)
                counts[top * (top + 1) // 2 + low] += 1
            else:
                counts[items[first + index]] += 1
        total += sent
    return total


@njit(nogil=True, cache=True)
def _count_signed_pairs(
    start: Longs,
    items: NDArray[np.int32],
    deviations: Doubles,
    prior: int,
    messages: int,
    words: Words,
    counts: Longs,
) -> int:
    at, total, pairs = 0, 0, len(counts) // 2
    chosen = np.empty(messages, np.int64)
    for user in range(len(start) - 1):
        first, end = start[user], start[user + 1]
        rated = end - first
        amount, all_rated = np.float64(rated - 2 + prior), deviations[first:end].sum()
        sent, at = _subset(rated * (rated - 1) // 2, words, at, chosen)
        for index in chosen[:sent]:
            one, other = _pair(index)
            x, y = deviations[first + one], deviations[first + other]
            rest = all_rated - x - y
            low, top = _ordered(items, first + one, first + other)
            is_positive = (x * amount - rest) * (y * amount - rest) > 0
            counts[top * (top - 1) // 2 + low + pairs * np.int64(is_positive)] += 1
        total += sent
    return total


@njit(nogil=True, cache=True)
def _subset(size: int, words: Words, at: int, chosen: Longs) -> tuple[int, int]:
    """Write a uniform subset of the indices below `size` to `chosen`, as many as fit in it.

    `at`: the first word to use. Returns the size of the subset, and the next word.
    """
    sent, drawn = 0, set([np.int64(-1)])  # noqa: C405  # numba infers its type from a list
    for last in range(max(size - len(chosen), 0), size):
        limit = np.uint64(last + 1)
        # The rest of 2^64 divided by the limit, which is that of 2^64 - limit.
        rest = (np.uint64(0) - limit) % limit
        while words[at] > np.uint64(0xFFFFFFFFFFFFFFFF) - rest:
            at += 1
        index = np.int64(words[at] % limit)
        at += 1
        if index in drawn:
            index = np.int64(last)
        drawn.add(index)
        chosen[sent] = index
        sent += 1
    return sent, at


@njit(nogil=True, cache=True)
def _pair(index: np.int64) -> tuple[np.int64, np.int64]:
    """Return the pair low < high with this index, which is high (high - 1) / 2 + low."""
    high = np.int64((1 + np.sqrt(1 + 8 * index)) // 2)
    while high * (high - 1) // 2 > index:
        high -= 1
    while (high + 1) * high // 2 <= index:
        high += 1
    return index - high * (high - 1) // 2, high


@njit(nogil=True, cache=True)
def _ordered(items: NDArray[np.int32], one: int, other: int) -> tuple[np.int64, np.int64]:
    """Return the items at two places, the smaller one first."""
    first, second = np.int64(items[one]), np.int64(items[other])
    return min(first, second), max(first, second)
