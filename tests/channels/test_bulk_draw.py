"""Bulk sampling equals one draw at a time, word for word, and the table, count for count."""

from decimal import Decimal

import numpy as np
import pytest

from tacit.channels import compile_channel
from tacit.channels.table import Channel, draw
from tacit.collection.sampler import BulkSampler
from tacit.kernels.draw import draw_symbols, stacked
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")


class WordsForTestsOnly:
    """Hands out the words it was given: nothing about it is secret, so no release may use it."""

    def __init__(self, words) -> None:
        self._words = np.asarray(words, np.uint64)

    def fill(self, words) -> None:
        words[:], self._words = self._words[: len(words)], self._words[len(words) :]


def drawn(channel, row, words):
    rows = np.full(len(words), row, np.uint8)
    return BulkSampler((channel,), WordsForTestsOnly(words)).draw(rows)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("word_bits", [12, 16])
def test_every_word_in_bulk_gives_its_symbol(member, word_bits):
    channel = member("1", word_bits=word_bits)
    count = 1 << word_bits
    every = np.arange(count, dtype=np.uint64) << np.uint64(64 - word_bits)
    for row in range(len(channel.weights)):
        counts = np.bincount(drawn(channel, row, every), minlength=len(channel.outputs))
        assert tuple(counts.tolist()) == channel.weights[row]


def test_channels_side_by_side_draw_as_each_alone():
    chance = np.random.default_rng(5)
    channels = [
        compile_channel(name, epsilon="1", scale=STARS, word_bits=bits)
        for name, bits in (("optimal", 16), ("bounded-laplace", 64), ("randomized-response", 64))
    ]
    rows, channel_of = chance.integers(0, 5, 3000), chance.integers(0, 3, 3000)
    words = chance.integers(0, 1 << 64, 3000, dtype=np.uint64)
    sampler = BulkSampler(channels, WordsForTestsOnly(words))
    found = sampler.draw(rows.astype(np.uint8), channel_of.astype(np.uint8))
    each = zip(words.tolist(), channel_of, rows, strict=True)
    assert found.tolist() == [draw(channels[c], row, lambda word=w: word) for w, c, row in each]


@pytest.mark.parametrize(("symbols", "kind"), [(256, np.uint8), (257, np.uint16)])
def test_the_last_symbol_has_a_number_however_many_there_are(symbols, kind):
    outputs = tuple(map(Decimal, range(symbols)))
    channel = Channel(outputs[:1], outputs, ((1,) * symbols,), "0", word_bits=64)
    found = drawn(channel, 0, [0, (1 << 64) - 1])
    assert (found.tolist(), found.dtype) == ([0, symbols - 1], kind)


def test_rows_of_different_lengths_and_word_bits_stack():
    table = stacked([(1 << 10,), (1, 2, (1 << 16) - 1)], [12, 16])
    words = np.array([0, (1 << 62) - 1, 1 << 62, (1 << 64) - 1], np.uint64)
    found = np.empty(4, np.uint8)
    first = np.zeros(4, np.uint8)
    draw_symbols(words, first, table, found)
    assert found.tolist() == [0, 0, 1, 1]
    draw_symbols(words, first + np.uint8(1), table, found)
    assert found.tolist() == [0, 2, 2, 3]
