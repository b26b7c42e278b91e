"""The sampler equals the table: every word, every row, and no planted fault survives."""

import itertools
from collections import Counter
from collections.abc import Callable

import pytest

from tacit.channels import compile_channel
from tacit.channels.table import Channel, draw, secret_word
from tacit.errors import RequestError
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
Sampler = Callable[[Channel, int, int], int]


def every_word(word_bits: int) -> range:
    return range(1 << (64 - word_bits) - 1, 1 << 64, 1 << (64 - word_bits))


def equals_table(channel: Channel, sampler: Sampler) -> bool:
    return all(
        Counter(sampler(channel, row, word) for word in every_word(channel.word_bits))
        == Counter(dict(enumerate(weights)))
        for row, weights in enumerate(channel.weights)
    )


def scalar(channel: Channel, row: int, word: int) -> int:
    return draw(channel, row, lambda: word)


@pytest.mark.sampled(4)
def test_every_13_bit_word_gives_its_symbol(member):
    """A bit more than the planted faults below need to be found."""
    assert equals_table(member("1", word_bits=13), scalar)


@pytest.mark.long
def test_every_16_bit_word_gives_its_symbol(member):
    assert equals_table(member("1", word_bits=16), scalar)


def strict_bound(channel: Channel, row: int, word: int) -> int:
    return sum(word >> 52 > bound for bound in channel.bounds[row])


def low_bits(channel: Channel, row: int, word: int) -> int:
    return sum(word & 0xFFF >= bound for bound in channel.bounds[row])


def one_bit_short(channel: Channel, row: int, word: int) -> int:
    return draw(channel, row, lambda: word & ~(1 << 52))


def next_row(channel: Channel, row: int, word: int) -> int:
    return draw(channel, (row + 1) % len(channel.weights), lambda: word)


def forgets_last_symbol(channel: Channel, row: int, word: int) -> int:
    return min(draw(channel, row, lambda: word), len(channel.outputs) - 2)


def modulo(channel: Channel, row: int, word: int) -> int:
    return draw(channel, row, lambda: ((word >> 52) % 4095) << 52)


def never_flips_the_top(channel: Channel, row: int, word: int) -> int:
    return row if word >> 63 else draw(channel, row, lambda: word)


def rounds_through_float(channel: Channel, row: int, word: int) -> int:
    share, total = (word >> 52) / 4096, 0.0
    for symbol, weight in enumerate(channel.weights[row]):
        total += round(weight / 4096, 3)
        if share < total:
            return symbol
    return len(channel.outputs) - 1


MUTANTS = (
    strict_bound,
    low_bits,
    one_bit_short,
    next_row,
    forgets_last_symbol,
    modulo,
    never_flips_the_top,
    rounds_through_float,
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("name", ["randomized-response", "bounded-laplace"])
def test_planted_faults_are_found(mutant, name):
    assert not equals_table(compile_channel(name, epsilon="0.9", scale=STARS, word_bits=12), mutant)


def test_the_words_are_the_operating_systems_and_differ():
    words = [secret_word() for _ in range(100)]
    assert len(set(words)) == 100
    assert all(0 <= word < 1 << 64 for word in words)
    assert max(words) >= 1 << 62


def test_one_word_a_draw_for_every_row():
    channel = compile_channel("bounded-laplace", epsilon="1", scale=STARS)
    for row in range(5):
        count = itertools.count()
        draw(channel, row, lambda count=count: next(count))
        assert next(count) == 1


@pytest.mark.parametrize("row", [-1, 5])
def test_a_row_that_is_not_there_is_refused(row):
    channel = compile_channel("duchi", epsilon="1", scale=STARS)
    with pytest.raises(RequestError, match=f"row must be from 0 to .*, got {row}"):
        draw(channel, row)


def test_ratings_off_the_scale_are_refused_before_any_draw():
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS, missing=True)
    assert channel.row(None) == 0
    assert channel.row(STARS.levels[0]) == 1
    with pytest.raises(RequestError, match=r"rating must be an input .*1, 2, 3, 4, 5\), got 6"):
        channel.row(STARS.levels[0] + 5)
    with pytest.raises(RequestError, match=r"an input of this channel .* got None"):
        compile_channel("duchi", epsilon="1", scale=STARS).row(None)
