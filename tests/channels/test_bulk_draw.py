"""Bulk sampling equals one draw at a time, word for word, and the table, count for count."""

import numpy as np
import pytest

from tacit.collection.sampler import BulkSampler
from tacit.kernels.draw import draw_symbols, stacked


class WordsForTestsOnly:
    """Hands out the words it was given: nothing about it is secret, so no release may use it."""

    def __init__(self, words) -> None:
        self._words = np.asarray(words, np.uint64)

    def fill(self, words) -> None:
        words[:], self._words = self._words[: len(words)], self._words[len(words) :]


def drawn(channel, row, words):
    rows = np.full(len(words), row, np.uint8)
    return BulkSampler((channel,), WordsForTestsOnly(words)).draw(rows)


@pytest.mark.parametrize("word_bits", [12, 16])
def test_every_word_in_bulk_gives_its_symbol(member, word_bits):
    channel = member("1", word_bits=word_bits)
    count = 1 << word_bits
    every = np.arange(count, dtype=np.uint64) << np.uint64(64 - word_bits)
    for row in range(len(channel.weights)):
        counts = np.bincount(drawn(channel, row, every), minlength=len(channel.outputs))
        assert tuple(counts.tolist()) == channel.weights[row]


def test_rows_of_different_lengths_and_word_bits_stack():
    table = stacked([(1 << 10,), (1, 2, (1 << 16) - 1)], [12, 16])
    words = np.array([0, (1 << 62) - 1, 1 << 62, (1 << 64) - 1], np.uint64)
    found = np.empty(4, np.uint8)
    first = np.zeros(4, np.uint8)
    draw_symbols(words, first, table, found)
    assert found.tolist() == [0, 0, 1, 1]
    draw_symbols(words, first + np.uint8(1), table, found)
    assert found.tolist() == [0, 2, 2, 3]
