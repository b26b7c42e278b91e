"""Amplification by shuffling: both steps of the proof against all outcomes, and tightness."""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import pytest

from tacit.channels import compile_channel
from tacit.errors import RequestError
from tacit.privacy.shuffled_channels import amplified_delta, amplified_epsilon
from tacit.scale import RatingScale

FACTORS = (Fraction(1), Fraction(5, 4), Fraction(2), Fraction(4))
"""Values of e^epsilon."""


def tables():
    source = random.Random(3)
    for rows, symbols in ((2, 2), (2, 3), (3, 2), (3, 3)) * 3:
        yield tuple(tuple(source.randint(1, 9) for _ in range(symbols)) for _ in range(rows))


TABLES = list(tables())


def normalized(rows):
    return [[Fraction(weight, sum(row)) for weight in row] for row in rows]


def shuffled(laws):
    """The distribution of the histogram of independent messages."""
    histograms = {(0,) * len(laws[0]): Fraction(1)}
    for law in laws:
        mixed = Counter()
        for histogram, probability in histograms.items():
            for symbol, share in enumerate(law):
                counts = list(histogram)
                counts[symbol] += 1
                mixed[tuple(counts)] += probability * share
        histograms = mixed
    return histograms


def divergence(one, other, factor):
    return sum(max(one[key] - factor * other[key], Fraction(0)) for key in one)


def exact_delta(table, n, factor):
    """The largest delta between two values of a user, for all values of the others."""
    return max(
        divergence(shuffled([first, *others]), shuffled([second, *others]), factor)
        for others in combinations_with_replacement(table, n - 1)
        for first, second in permutations(table, 2)
    )


def blanket_delta(table, n, factor):
    """The same, where an attacker also observes which messages are not of the blanket."""
    blanket = [min(column) for column in zip(*table, strict=True)]
    gamma = sum(blanket)
    law = [weight / gamma for weight in blanket]
    return max(
        sum(
            math.comb(n - 1, m) * gamma**m * (1 - gamma) ** (n - 1 - m)
            * divergence(shuffled([first, *[law] * m]), shuffled([second, *[law] * m]), factor)
            for m in range(n)
        )
        for first, second in permutations(table, 2)
    )  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", TABLES)
def test_bound_is_above_all_outcomes(rows, n):
    table = normalized(rows)
    for factor in FACTORS:
        blanket = blanket_delta(table, n, factor)
        assert exact_delta(table, n, factor) <= blanket
        assert blanket <= amplified_delta(rows, messages=n, epsilon=math.log(factor))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rows", TABLES)
@pytest.mark.parametrize("n", [1, 7, 40])
def test_bound_is_the_mean_over_blanket_messages(rows, n):
    """The moments of all numbers of blanket messages, added up, at the best of many t.

    The closed form has one more term, (1 - gamma)^n / (e t n).
    """
    table = normalized(rows)
    blanket = [float(min(column)) for column in zip(*table, strict=True)]
    gamma, epsilon = sum(blanket), 0.1
    weights = [
        math.comb(n - 1, m) * gamma**m * (1 - gamma) ** (n - 1 - m) * gamma / (m + 1)
        for m in range(n)
    ]

    def bound(first, second, t):
        try:
            moment = sum(
                w / gamma * math.exp(t * (float(a) - math.exp(epsilon) * float(b)) / w)
                for a, b, w in zip(first, second, blanket, strict=True)
            )
            mean = sum(weight * moment ** (m + 1) for m, weight in enumerate(weights))
        except OverflowError:
            return math.inf
        return (mean + (1 - gamma) ** n / n) / (math.e * t)

    def least(first, second):
        return min(bound(first, second, 10 ** (step / 100 - 4)) for step in range(800))

    expected = max(least(first, second) for first, second in permutations(table, 2))
    delta = amplified_delta(rows, messages=n, epsilon=epsilon)
    if exact_delta(table, 1, Fraction(math.exp(epsilon))) == 0:  # one report alone satisfies it
        assert delta == 0
    else:
        # Values of t in steps of 2.3 %. Near its minimum the bound varies as the square of a step.
        assert 0.99 * min(expected, 1) <= delta <= min(expected, 1) * (1 + 1e-9)


def binary_delta(n, share, epsilon):
    """Exact delta of randomized response with two values, if all other users have the first one."""
    log_odds = [
        math.lgamma(n) - math.lgamma(k + 1) - math.lgamma(n - k)
        + k * math.log(1 - share) + (n - 1 - k) * math.log(share)
        for k in range(n)
    ]  # fmt: skip
    other = [0.0, *map(math.exp, log_odds), 0.0]
    first = [other[k] * (1 - share) + other[k + 1] * share for k in range(n + 1)]
    second = [other[k] * share + other[k + 1] * (1 - share) for k in range(n + 1)]
    factor = math.exp(epsilon)
    return max(
        sum(max(a - factor * b, 0.0) for a, b in zip(one, two, strict=True))
        for one, two in ((first, second), (second, first))
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("local", [1, 2])
@pytest.mark.parametrize("n", [100, 1_000, 10_000])
def test_bound_is_near_the_exact_epsilon_of_randomized_response(n, local):
    weight = round(1e6 * math.exp(local) / (1 + math.exp(local)))
    rows = ((weight, 10**6 - weight), (10**6 - weight, weight))
    bound = amplified_epsilon(rows, messages=n, delta=1e-6)
    low, high = 0.0, float(local)
    for _ in range(30):
        middle = (low + high) / 2
        is_above = binary_delta(n, weight / 1e6, middle) <= 1e-6
        low, high = (low, middle) if is_above else (middle, high)
    assert high <= bound <= 1.5 * high


@pytest.mark.sampled(3)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", ["randomized-response", "optimal"])
def test_channels_are_amplified(name, missing):
    channel = compile_channel(name, epsilon="2", scale=RatingScale.parse("1:5:1"), missing=missing)
    epsilons = [
        amplified_epsilon(channel.weights, messages=n, delta=1e-7) for n in (1, 10**3, 10**5, 10**7)
    ]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[0] == pytest.approx(2, abs=1e-6)
    assert epsilons[0] <= 2 + 1e-9
    assert epsilons[2] < 0.2
    assert 8 < epsilons[2] / epsilons[3] < 12
    for n, epsilon in zip((10**3, 10**5), epsilons[1:3], strict=True):
        assert amplified_delta(channel.weights, messages=n, epsilon=epsilon) <= 1e-7
        assert amplified_delta(channel.weights, messages=n, epsilon=0.99 * epsilon) > 1e-7


def test_delta_is_between_0_and_1_and_decreases():
    rows = ((3, 1), (1, 3))
    deltas = [amplified_delta(rows, messages=50, epsilon=step / 20) for step in range(24)]
    assert deltas == sorted(deltas, reverse=True)
    assert 0 <= deltas[-1] < deltas[0] <= 1
    assert amplified_delta(rows, messages=50, epsilon=math.log(3) + 1e-9) == 0
    assert amplified_delta(((2, 2), (3, 3)), messages=1, epsilon=0) == 0


def test_a_symbol_without_weight_changes_nothing():
    rows, more = ((3, 1), (1, 3)), ((3, 0, 1), (1, 0, 3))
    for epsilon in (0, 0.3):
        delta = amplified_delta(rows, messages=90, epsilon=epsilon)
        assert amplified_delta(more, messages=90, epsilon=epsilon) == delta


@pytest.mark.parametrize(
    ("rows", "changes", "reason"),
    [(((1, 0), (1, 1)), {}, "no finite epsilon"), (((1, -1), (1, 1)), {}, "negative"),
     (((0, 0), (0, 0)), {}, "no finite epsilon"),
     (((1, 1),), {}, "at least two rows"), (((1, 1), (1,)), {}, "equal length"),
     (((1, 1), (1, 2)), {"messages": 0}, "messages must be an integer of at least 1"),
     (((1, 1), (1, 2)), {"epsilon": -0.1}, "epsilon must be at least 0"),
     (((1, 1), (1, 2)), {"epsilon": math.nan}, "epsilon must be at least 0")],
)  # fmt: skip
def test_invalid_tables_and_numbers_are_refused(rows, changes, reason):
    with pytest.raises(RequestError, match=reason):
        amplified_delta(rows, **{"messages": 5, "epsilon": 0.1} | changes)


@pytest.mark.parametrize("delta", [0, 1, math.nan])
def test_a_delta_out_of_range_is_refused(delta):
    with pytest.raises(RequestError, match="delta must be between 0 and 1"):
        amplified_epsilon(((1, 1), (1, 2)), messages=5, delta=delta)
