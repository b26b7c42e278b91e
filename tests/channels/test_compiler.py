"""The compiler: nearest integers where they hold, the least mixing where they do not."""

import random
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import pytest

from tacit.channels import compile_channel
from tacit.channels.certificate import exp_lower
from tacit.channels.compiler import compile_weights, public_numbers
from tacit.channels.randomized_response import RandomizedResponse
from tacit.errors import RequestError


def decimals(*rows: tuple[float | str, ...]) -> list[list[Decimal]]:
    return [[Decimal(share) for share in row] for row in rows]


def test_a_table_that_holds_is_left_as_it_is():
    rows = decimals(("0.75", "0.25"), ("0.25", "0.75"))
    assert compile_weights(rows, word_bits=16, epsilon="2") == ((49152, 16384), (16384, 49152))


def test_whoever_lost_most_by_rounding_down_gets_the_units_that_are_left():
    chance = random.Random(4)
    for _ in range(50):
        row = [Decimal(chance.randrange(10**5, 10**6)) for _ in range(7)]
        (weights,) = compile_weights([row], word_bits=10, epsilon="16")
        lost = [Fraction(share) * 1024 / sum(map(Fraction, row)) for share in row]
        lost = [exact - weight for exact, weight in zip(lost, weights, strict=True)]
        assert sum(weights) == 1024
        assert max(lost) - min(lost) <= 1
        assert all(-1 < less < 1 for less in lost)


def test_what_is_rarer_than_a_unit_takes_one_from_the_likeliest():
    rows = decimals(("0.998", "0.001", "0.001"), ("0.001", "0.998", "0.001"))
    assert compile_weights(rows, word_bits=4, epsilon="3") == ((14, 1, 1), (1, 14, 1))


@pytest.mark.parametrize("word_bits", [8, 16, 32, 64])
@pytest.mark.parametrize("ratio", [3, 20, 1000])
def test_too_steep_a_table_is_mixed_no_more_than_it_must_be(word_bits, ratio):
    whole, most = 1 << word_bits, exp_lower(Fraction(1))
    best = whole * most.numerator // (most.numerator + most.denominator)
    rows = decimals((ratio, 1), (1, ratio))
    (first, second) = compile_weights(rows, word_bits=word_bits, epsilon="1")
    assert 0 <= best - first[0] <= 9  # sixteen units of the guard, half of which move a weight
    assert second == first[::-1]


def test_rows_are_proportions_whatever_they_sum_to():
    even, uneven = decimals((3, 1), (1, 3)), decimals((21, 7), (1, 3))
    mixed = (compile_weights(rows, word_bits=32, epsilon="1") for rows in (even, uneven))
    assert len(set(mixed)) == 1


def test_where_nothing_may_be_told_all_rows_are_their_mean():
    rows = decimals(("0.9", "0.1"), ("0.1", "0.9"))
    assert compile_weights(rows, word_bits=8, epsilon="0") == ((128, 128), (128, 128))


def test_too_short_a_word_is_refused():
    with pytest.raises(RequestError, match="No table of 1-bit words has epsilon 1; use more"):
        compile_weights(decimals((1, 1, 1), (1, 2, 1)), word_bits=1, epsilon="1")


def test_public_numbers_have_six_decimals_and_zero_no_sign():
    assert public_numbers([Fraction(0), Fraction(100, 3)])[1] == Decimal("33.333333")
    assert str(public_numbers([Decimal("-1e-9"), Decimal(1)])[0]) == "0"


def test_a_table_is_computed_once_for_settings_of_a_built_in_channel_alone(monkeypatch):
    """Equality of a plug-in's settings is its own: two of them may have different tables."""

    @dataclass(frozen=True, kw_only=True)
    class Plugged(RandomizedResponse):
        epsilon: str = field(compare=False)

    monkeypatch.setattr("tacit.channels.settings_of", lambda name: Plugged)
    one, other = (compile_channel("plugged", epsilon=each, scale="1:5:1") for each in "12")
    assert (one.epsilon, other.epsilon) == ("1", "2")
    assert one.weights != other.weights
    monkeypatch.undo()
    first, again = (compile_channel("duchi", epsilon="1", scale="1:5:1") for _ in range(2))
    assert first is again
