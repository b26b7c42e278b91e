"""Signs of a device: their law is exact, and they are those of exact arithmetic on ratings."""

import itertools
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shuffled_tasks import ITEMS, MEANS, SCALE, drawing, item_task, pair_task, star_task

from tacit.device.shuffled.signs import (
    PRIOR,
    check_kind,
    levels_of,
    signed_bundle,
    signed_items,
    signed_pairs,
)
from tacit.errors import RequestError
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.scale import OWN_BIAS_RIDGE, RatingScale

FIRST = star_task()
SECOND = pair_task(FIRST, ITEMS)
PROFILES = st.dictionaries(st.integers(0, 7), st.integers(0, 4))
LAST = (1 << 64) - 1


def ratings(levels):
    return {ITEMS[index]: level + 1 for index, level in levels.items()}


def words_of(seed):
    source = Random(seed)
    return lambda: source.getrandbits(64)


def all_pairs(task, scale, levels):
    """All signed pairs, which no words can change."""
    return signed_pairs(drawing(task, 28), scale, levels, itertools.repeat(0).__next__)


def naive_pairs(levels, means, scale) -> set[int]:
    """One pair at a time, with fractions."""
    values = {i: Fraction(scale.levels[level]) for i, level in levels.items()}
    around = {i: value - Fraction(means[i], 1000) for i, value in values.items()}
    count, buckets = len(means), set()
    for low, high in itertools.combinations(sorted(around), 2):
        others = [each for i, each in around.items() if i not in (low, high)]
        level = sum(others) / Fraction(len(others) + 5)
        product = (around[low] - level) * (around[high] - level)
        first = 0 if product <= 0 else count * (count - 1) // 2
        buckets.add(first + high * (high - 1) // 2 + low)
    return buckets


@given(PROFILES)
def test_pairs_have_the_sign_of_the_product_of_exact_residuals(levels):
    levels = dict(sorted(levels.items()))
    own = all_pairs(SECOND, SCALE, levels)
    assert len(own) == len(set(own)) == len(levels) * (len(levels) - 1) // 2
    assert set(own) == naive_pairs(levels, MEANS, SCALE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", ["0.5:5:0.5", "-1:1:0.0625", "1:1.02:0.001", "1:2:0.00005"])
def test_pairs_on_other_scales_are_exact(scale):
    """Also where levels are finer than thousandths."""
    steps = RatingScale.parse(scale)
    means = tuple(int(1000 * steps.levels[k % steps.n_levels]) for k in range(8))
    task = replace(SECOND, scale=steps, means=means)
    rng = np.random.default_rng(0)
    for _ in range(100):
        mine = sorted(rng.choice(8, rng.integers(0, 9), replace=False).tolist())
        levels = {item: int(rng.integers(steps.n_levels)) for item in mine}
        assert set(all_pairs(task, steps, levels)) == naive_pairs(levels, means, steps)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rated", [2, 3, 4])
def test_signs_of_independent_ratings_are_nearly_balanced(rated):
    """Over all profiles of independent ratings. A level of all ratings makes pairs seem opposed."""
    scale = RatingScale.parse("1:10:1")
    task = replace(SECOND, scale=scale, means=(5500,) * 8)
    profiles = list(itertools.product(range(10), repeat=rated))
    positive = [all_pairs(task, scale, dict(enumerate(levels)))[0] >= 28 for levels in profiles]
    assert 0 <= 2 * np.mean(positive) - 1 < 0.02
    around = np.array(profiles) - 4.5
    own = around - around.sum(1, keepdims=True) / (rated + PRIOR)
    assert 2 * np.mean(own[:, 0] * own[:, 1] > 0) - 1 < -0.1


def test_pairs_are_drawn_before_their_signs_are_computed():
    """Of 20,000 ratings, which have 199,990,000 pairs, three pairs are computed."""
    items = tuple(range(20_000))
    three = ShuffledRound(buckets=20_000 * 19_999 + 300, messages=3)
    task = SimpleNamespace(items=items, means=(3000,) * 20_000, round=three)
    levels = {item: item % 5 for item in items}
    words = iter([0, 1, 2])
    half = 20_000 * 19_999 // 2
    # The first three ratings are below the user's level, which is just above the means.
    assert signed_pairs(task, SCALE, levels, words.__next__) == [half, half + 1, half + 2]
    assert list(words) == []


@given(PROFILES, st.integers(0, LAST))
def test_drawn_pairs_are_distinct_and_at_most_m(levels, seed):
    levels = dict(sorted(levels.items()))
    own = signed_pairs(SECOND, SCALE, levels, words_of(seed))
    most = SECOND.round.messages
    assert len(own) == len(set(own)) == min(len(levels) * (len(levels) - 1) // 2, most)
    assert set(own) <= naive_pairs(levels, MEANS, SCALE)


def test_a_product_of_zero_is_negative():
    """Two ratings that equal the means have residuals of 0. No other ratings: the level is 0."""
    task = replace(SECOND, means=(3000,) * 8)
    assert all_pairs(task, SCALE, {1: 2, 3: 2}) == [3 * 2 // 2 + 1]
    assert all_pairs(task, SCALE, {1: 3, 3: 3}) == [3 * 2 // 2 + 1 + 28]
    assert all_pairs(task, SCALE, {1: 4, 3: 0}) == [3 * 2 // 2 + 1]


def test_a_level_is_damped_as_in_predictions():
    assert PRIOR == OWN_BIAS_RIDGE


def test_ratings_outside_of_the_task_do_not_change_a_sign():
    inside = ratings({0: 4, 2: 0, 5: 1})
    known = levels_of(SECOND, SCALE, inside)
    assert levels_of(SECOND, SCALE, inside | {7_000: 5, "x": "off the scale"}) == known


@pytest.mark.parametrize("scale", ["0:1:1", "1:5:1", "0.5:5:0.5"])
def test_law_of_a_sign_is_exact(scale):
    """Over all residues of a word, each once: level k of L is positive k times of L - 1."""
    steps = RatingScale.parse(scale)
    task = star_task(None, scale=steps)
    for level in range(steps.n_levels):
        signs = Counter(
            signed_items(task, steps, {5: level}, iter([0, word]).__next__)[0]
            for word in range(steps.n_levels - 1)
        )
        assert signs[8 + 5] == level
        assert signs[5] == steps.n_levels - 1 - level


def test_items_are_drawn_before_signs():
    """Words: a subset of M = 3 of five items, signs of 1 of 4 levels up, then uniform buckets."""
    bare = ShuffledRound(buckets=28, messages=3, dummies=0)
    task = replace(FIRST, certificate=replace(FIRST.certificate, rounds=(bare,)))
    levels = {0: 0, 1: 1, 3: 2, 4: 3, 7: 4}
    words = iter([0, 1, 2, 3, 2, 1])  # the indices 0, 1 and 2, and a sign for each
    assert signed_items(task, SCALE, levels, words.__next__) == [0, 1, 8 + 3]
    assert list(words) == []


@given(PROFILES, st.integers(0, LAST))
def test_own_buckets_are_distinct_and_at_most_m(levels, seed):
    levels = dict(sorted(levels.items()))
    own = signed_items(FIRST, SCALE, levels, words_of(seed))
    assert len(own) == len({bucket % 8 for bucket in own}) == min(len(levels), 3)
    assert {bucket % 8 for bucket in own} <= set(levels)


@given(PROFILES)
def test_length_does_not_depend_on_ratings(levels):
    for task in (FIRST, SECOND):
        bundle = signed_bundle(task, SCALE, ratings(levels), words_of(1))
        assert len(bundle) == task.round.messages + task.round.dummies


def test_order_and_spelling_of_ratings_do_not_matter():
    spelled = {102: "5", "101": 1, 107: Decimal("3.0")}
    levels = levels_of(FIRST, SCALE, spelled)
    assert list(levels.items()) == [(1, 0), (2, 4), (7, 2)]
    assert levels_of(FIRST, SCALE, dict(reversed(spelled.items()))) == levels


@pytest.mark.parametrize("rating", ["6", 0, "4.5", 4.1, "x", None, "nan", "inf", "1e999999"])
def test_a_rating_off_the_scale_is_refused_before_any_draw(rating):
    with pytest.raises(RequestError, match=r"This rating is not on the scale 1:5:1\.") as error:
        signed_bundle(FIRST, SCALE, {101: 3, 103: rating}, iter([]).__next__)
    assert "103" not in str(error.value)


def test_two_ratings_of_an_item_are_refused():
    with pytest.raises(RequestError, match="contain an item twice"):
        signed_bundle(FIRST, SCALE, {101: 3, "101": 3}, iter([]).__next__)


def test_the_kind_of_items_is_that_of_the_task():
    for task, right, wrong, words in (
        (item_task(), [101], {101: 3}, "pass a collection of ids"),
        (FIRST, {101: 3}, [101], "pass ratings by item id, as in {17: '4'}"),
    ):
        check_kind(task, right)
        with pytest.raises(RequestError, match=words):
            check_kind(task, wrong)
