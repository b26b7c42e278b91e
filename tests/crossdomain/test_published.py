"""Replacements and neighbours as published: their laws, and where their claims fail."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.channels.certificate import exp_lower
from tacit.crossdomain.neighbours import POINT_BITS, Adjusted
from tacit.crossdomain.x_map import private_neighbours
from tacit.crossdomain.x_map.private_neighbours import Selection, in_turn, truncated
from tacit.crossdomain.x_map.replacement import (
    STEPS,
    Candidates,
    Draws,
    Lottery,
    draw,
    uniform,
    weights,
)
from tacit.engines.engine import Local
from tacit.errors import RequestError
from tacit.kernels.neighbourhood.paths import Found
from tacit.kernels.neighbourhood.sensitivity import SMALLEST, pairs

KNOWN = Draws(bytes(32))


@pytest.mark.parametrize(("epsilon", "odds"), [("0.3", 1.162), ("0.6", 1.350), ("1", 1.649)])
def test_the_odds_of_the_best_replacement_over_the_worst(epsilon, odds):
    table = weights(epsilon)
    assert table[-1] / table[0] == pytest.approx(odds, abs=5e-4)
    middle = table[STEPS] / table[0]
    assert middle == pytest.approx(math.sqrt(table[-1] / table[0]), rel=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "1", "7.5", "40"])
def test_no_weight_breaks_the_bound(epsilon):
    table = [int(weight) for weight in weights(epsilon)]
    assert min(table) >= 1
    assert table == sorted(table)
    bound = exp_lower(Fraction(epsilon) / 2)
    assert Fraction(max(table), min(table)) <= bound
    assert max(table) * 2**20 < 2**63


@pytest.mark.parametrize("epsilon", ["0", "-1", "41"])
def test_an_epsilon_without_a_table_is_refused(epsilon):
    with pytest.raises(RequestError, match=epsilon):
        weights(epsilon)


def drawn_often(table, s, times):
    """How often each of the candidates is drawn."""
    n = len(s)
    found = Found(np.arange(times + 1) * n, np.tile(np.arange(n, dtype=np.int32), times),
                  np.tile(s, times))  # fmt: skip
    block = Candidates(np.arange(times, dtype=np.int32), found)
    key = Draws.secret().octets
    return np.bincount(draw(block, Lottery(key, table)).target, minlength=n)


def surprise(counts, law):
    """Chi-square in standard deviations above its mean."""
    expected = counts.sum() * law
    freedom = len(law) - 1
    return (((counts - expected) ** 2 / expected).sum() - freedom) / math.sqrt(2 * freedom)


def test_replacements_follow_the_exponential_law_and_no_other():
    s = np.array([-1.0, -0.4, 0.1, 0.8, 1.0])
    law = np.exp(2 * s / 4)
    twice = np.exp(2 * s / 2)  # a sensitivity of 1, as the published code has it
    counts = drawn_often(weights("2"), s, 20_000)
    assert surprise(counts, law / law.sum()) < 6
    assert surprise(counts, twice / twice.sum()) > 20


def test_an_item_that_reaches_nothing_has_no_replacement():
    found = Found(np.array([0, 0]), np.zeros(0, np.int32), np.zeros(0))
    block = Candidates(np.array([3], np.int32), found)
    assert draw(block, Lottery(KNOWN.octets, weights("1"))).target.tolist() == [-1]


def test_words_depend_on_key_stage_and_item_alone():
    same = KNOWN.words("a", 5, 4)
    assert (KNOWN.words("a", 5, 9)[:4] == same).all()
    others = [Draws(bytes(31) + b"1").words("a", 5, 4), KNOWN.words("b", 5, 4),
              KNOWN.words("a", 6, 4)]  # fmt: skip
    assert all((other != same).all() for other in others)
    assert Draws.secret() != Draws.secret()


def test_whole_numbers_below_a_bound_are_even():
    counts = np.bincount([KNOWN.below("c", i, 6) for i in range(30_000)], minlength=6)
    assert surprise(counts, np.full(6, 1 / 6)) < 6


def compared(ratings):
    witnesses, things = np.nonzero(~np.isnan(ratings))
    points = ratings[witnesses, things].astype(np.int64) << POINT_BITS
    things, witnesses = things.astype(np.int32), witnesses.astype(np.int32)
    return Adjusted.of(things, witnesses, points, ratings.shape[1], ratings.shape[0])


def naive_moved(around, i, j):
    """SS as printed, over the witnesses of both; 2 where it tends to infinity."""
    a, b = np.nan_to_num(around[:, i]), np.nan_to_num(around[:, j])
    whole = a @ b / math.sqrt(a @ a) / math.sqrt(b @ b)
    found = []
    for x in np.flatnonzero(~np.isnan(around[:, i]) & ~np.isnan(around[:, j])):
        rest = math.sqrt(max(a @ a - a[x] ** 2, 0)) * math.sqrt(max(b @ b - b[x] ** 2, 0))
        if rest < 1e-7 and a[x] * b[x] != 0:
            return whole, 2.0
        if rest > 1e-7:
            found += [a[x] * b[x] / rest, a @ b / rest - whole]
    return whole, max(found) if found else 0.0


def test_the_published_sensitivity_is_the_printed_one_made_positive():
    chance = np.random.default_rng(4)
    ratings = chance.integers(0, 5, (25, 12)).astype(float)
    ratings[chance.random(ratings.shape) < 0.4] = np.nan
    around = ratings - np.nanmean(ratings, axis=1, keepdims=True)
    alike = compared(ratings)
    everything = np.arange(12, dtype=np.int32)
    found = pairs(alike.rows(everything), alike.columns(everything))
    for i in range(12):
        for j in set(range(12)) - {i}:
            s, moved = naive_moved(around, i, j)
            assert found.s[i, j] == pytest.approx(s, abs=1e-5)
            assert found.moved[i, j] == pytest.approx(max(abs(moved), SMALLEST), abs=1e-4)


def test_a_negative_sensitivity_is_guarded():
    """Two witnesses at (1, -1) and (-1, 1): s = -1, and the printed formula says SS = -1."""
    alike = compared(np.array([[4.0, 2.0], [2.0, 4.0]]))
    both = np.arange(2, dtype=np.int32)
    found = pairs(alike.rows(both), alike.columns(both))
    assert found.s[0, 1] == pytest.approx(-1)
    assert found.moved[0, 1] > 0


@pytest.mark.parametrize("other", [[4.0, np.nan], [2.0, np.nan]])
def test_a_pair_with_one_rater_has_the_largest_sensitivity(other):
    """Without that rater a norm is 0, and the formula tends to infinity."""
    alike = compared(np.array([[5.0, *other, 1.0], [np.nan, np.nan, 3.0, 2.0]]))
    everything = np.arange(4, dtype=np.int32)
    found = pairs(alike.rows(everything), alike.columns(everything))
    assert found.moved[0, 1] == 2
    assert abs(found.s[0, 1]) == pytest.approx(1, abs=1e-3)


def test_truncation_as_printed():
    s, moved = np.array([0.9, 0.5, 0.2, -0.3]), np.array([0.05, 1e-6, 0.05, 1e-6])
    shared = Selection(None, KNOWN.octets, 2, 0.8, 10_000)  # pyright: ignore[reportArgumentType]
    small = 4 * 2 * 1e-6 / 0.8 * math.log(2 * (10_000 - 2) / 0.1)
    assert truncated(s, moved, shared) == pytest.approx([0.9, 0.5, 0.2, 0.5 - small])
    many = Selection(None, KNOWN.octets, 50, 0.8, 10_000)  # pyright: ignore[reportArgumentType]
    many_s = np.linspace(-0.2, 0.9, 400)
    lowest = truncated(many_s, np.full(400, 0.05), many).min()
    assert lowest == 0.0  # w is all of Sim_k: being near means to be above zero


def test_neighbours_are_drawn_in_turn_by_their_exponents():
    """Two out of four, over many keys: the law of drawing without putting back."""
    exponent, n = np.array([0.9, 0.0, -0.4, 0.5]), 20_000
    key, p = Draws.secret(), np.exp(exponent) / np.exp(exponent).sum()
    pairs_of = [(a, b) for a in range(4) for b in range(4) if a != b]
    law = np.array([p[a] * p[b] / (1 - p[a]) for a, b in pairs_of])
    told = [tuple(in_turn(exponent, uniform(key.words("t", i, 4)), 2).tolist()) for i in range(n)]
    counts = np.array([told.count(pair) for pair in pairs_of])
    assert surprise(counts, law) < 6
    again = np.array([p[a] * p[b] for a, b in pairs_of])  # as if the first were put back
    assert surprise(counts, again / again.sum()) > 20


def test_noise_on_similarities_has_the_printed_scale():
    chance = np.random.default_rng(8)
    ratings = chance.integers(0, 5, (30, 40)).astype(float)
    alike = compared(ratings)
    everything = np.arange(40, dtype=np.int32)
    exact = pairs(alike.rows(everything), alike.columns(everything))
    off = []
    for _ in range(20):
        near = private_neighbours.drawn(
            alike, everything, everything, 10, "3", Draws.secret(), Local(3)
        )
        for i in range(40):
            j = near.code[i]
            assert len(set(j.tolist()) - {i, -1}) == 10
            off.append(abs(near.s[i] - exact.s[i, j]) / (2 * exact.moved[i, j] / 3))
    assert np.mean(off) == pytest.approx(1, abs=5 / math.sqrt(np.size(off)))
