"""A table against fractions, its moments and its information; and the shapes that are refused."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from tacit.channels import compile_channel
from tacit.channels.table import MOST_SYMBOLS, Channel
from tacit.errors import RequestError
from tacit.scale import RatingScale

ONE, TWO = Decimal(1), Decimal(2)


def two_levels(*weights: tuple[int, ...], outputs: tuple[Decimal, ...] = (ONE, TWO)) -> Channel:
    return Channel((ONE, TWO), outputs, weights, "1", word_bits=2)


@pytest.mark.parametrize("name", ["randomized-response", "optimal", "modified-laplace"])
def test_moments_of_a_table_with_missing_are_those_of_its_fractions(name):
    scale = RatingScale.parse("2:5:1")
    options = {} if name == "modified-laplace" else {"missing": True}
    channel = compile_channel(name, epsilon="1", scale=scale, **options)
    stands_for = [Fraction(y or 0) for y in channel.outputs]
    for row, weights in enumerate(channel.weights):
        shares = [Fraction(weight, 1 << 64) for weight in weights]
        mean = sum(p * y for p, y in zip(shares, stands_for, strict=True))
        assert channel.mean(row) == mean
        spread = sum(p * (y - mean) ** 2 for p, y in zip(shares, stands_for, strict=True))
        assert channel.variance(row) == spread
        if row:
            assert channel.bias(row) == mean - (row + 1)


def test_information_where_a_symbol_or_a_rating_never_occurs():
    sure = two_levels((4, 0), (0, 4))
    assert sure.information() == pytest.approx(math.log(2), rel=1e-12)
    assert sure.information([1, 0]) == 0
    assert two_levels((4, 0), (2, 2)).information([0, 1]) == 0


def test_shapes_that_are_no_table_are_refused_with_their_counts():
    with pytest.raises(RequestError, match=r"over 2 levels must have one row per level, .*, got 3"):
        two_levels((2, 2), (2, 2), (2, 2))
    with pytest.raises(RequestError, match="must have 2 weights"):
        two_levels((2, 2), (1, 1, 2))
    with pytest.raises(RequestError, match=f"must have 1 to {MOST_SYMBOLS} symbols, got 0"):
        two_levels((), (), outputs=())
    most = tuple(map(Decimal, range(MOST_SYMBOLS + 1)))
    assert len(two_levels(*[(1,) * MOST_SYMBOLS] * 2, outputs=most[:-1]).outputs) == MOST_SYMBOLS
    with pytest.raises(RequestError, match=f"got {MOST_SYMBOLS + 1}"):
        two_levels(*[(1,) * (MOST_SYMBOLS + 1)] * 2, outputs=most)


def test_a_table_of_one_symbol_tells_nothing():
    mute = two_levels((4,), (4,), outputs=(ONE,))
    assert (mute.worst_ratio, mute.exact_epsilon, mute.information()) == (1, 0, 0)


@pytest.mark.parametrize("epsilon", ["0.0001", "0.001", "0.5", "3", "16"])
def test_exact_epsilon_is_rounded_up_to_the_next_float(epsilon):
    """The logarithm in 60 digits, also where two logarithms nearly cancel."""
    table = compile_channel("randomized-response", epsilon=epsilon, scale="1:5:1")
    ratio = table.worst_ratio
    with localcontext(prec=60):
        exact = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()
    assert Decimal(math.nextafter(table.exact_epsilon, 0)) <= exact <= Decimal(table.exact_epsilon)
