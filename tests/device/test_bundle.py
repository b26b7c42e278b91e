"""A bundle's length is constant, its own buckets are a uniform subset, and its twin is equal."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tacit.channels.table import secret_word
from tacit.device.shuffled.bundle import (
    below,
    completed,
    draw_bundle,
    draw_pair_bundle,
    pair_bucket,
    sampled,
    sampled_pairs,
    subset,
)
from tacit.errors import RequestError
from tacit.kernels.draw import count_messages, words_needed
from tacit.kernels.layout import by_user
from tacit.privacy.shuffled_messages import ShuffledRound

ROUND = ShuffledRound(buckets=21, messages=4, dummies=6)
LAST = (1 << 64) - 1


def scripted(words):
    return iter(words).__next__


def test_pairs_and_decoys_have_all_buckets_once():
    buckets = sorted(pair_bucket(i, j) for i in range(7) for j in range(i, 7))
    assert buckets == list(range(28))
    own = (pair_bucket(*pair) for pair in sampled_pairs(range(7), 21, secret_word))
    assert sorted(own) == [b for b in buckets if b not in map(decoy, range(7))]


def decoy(item: int) -> int:
    return pair_bucket(item, item)


def test_words_of_the_last_part_are_redrawn():
    """2^64 = 16 mod 100, so exactly the last 16 words are redrawn."""
    assert below(100, scripted([LAST - 16])) == (LAST - 16) % 100 == 99
    assert below(100, scripted([LAST, LAST - 15, 7])) == 7


@pytest.mark.parametrize(("size", "most"), [(5, 2), (5, 3), (4, 9), (1, 1), (0, 3)])
def test_every_subset_is_equally_likely(size, most):
    """All words that the draws distinguish, each combination once."""
    ranges = [range(last + 1) for last in range(max(size - most, 0), size)]
    sets = Counter(
        frozenset(subset(size, most, scripted(words))) for words in itertools.product(*ranges)
    )
    assert len(sets) == math.comb(size, min(size, most))
    assert len(set(sets.values())) == 1


@pytest.mark.parametrize("size", range(9))
@pytest.mark.parametrize("most", [1, 2, 7, 40])
def test_pairs_are_drawn_with_the_words_and_results_of_a_list_of_all_pairs(size, most):
    items = list(range(1, 3 * size, 3))
    pairs = [(later, other) for at, later in enumerate(items) for other in items[:at]]
    words = np.random.default_rng(size).integers(0, LAST, 50, np.uint64, endpoint=True).tolist()
    left, again = iter(words), iter(words)
    indices = sampled(range(len(pairs)), most, again.__next__)
    assert sampled_pairs(items, most, left.__next__) == [pairs[index] for index in indices]
    assert list(left) == list(again)


def test_a_bundle_about_pairs_does_not_list_all_of_them():
    """A thousand million items have 5 * 10^17 pairs. The first and the last one are drawn."""
    items = range(10**9)
    last = 10**9 * (10**9 - 1) // 2 - 1
    assert sampled_pairs(items, 1, scripted([last])) == [(10**9 - 1, 10**9 - 2)]
    for at in (1, 2, 3, 94_906_267, 10**9 - 1):
        first = at * (at - 1) // 2
        assert sampled_pairs(items, 1, scripted([first])) == [(at, 0)]
        assert sampled_pairs(items, 1, scripted([first + at - 1])) == [(at, at - 1)]


@pytest.mark.parametrize("own", [[], [3], [0, 5, 9, 20], list(range(21))])
def test_length_does_not_depend_on_the_profile(own):
    assert len(draw_bundle(own, ROUND)) == ROUND.messages + ROUND.dummies


def test_own_buckets_are_distinct_and_the_rest_is_uniform():
    own = [2, 5, 7, 11, 13, 17]
    bare = ShuffledRound(buckets=21, messages=4)
    for _ in range(200):
        bundle = draw_bundle(own, bare)
        assert len(set(bundle)) == 4
        assert set(bundle) <= set(own)
    counts = np.zeros(21)
    for _ in range(3_000):
        np.add.at(counts, draw_bundle([2], ROUND), 1)
    counts[2] -= 3_000
    assert stats.chisquare(counts).pvalue > 1e-6


def test_every_order_is_equally_likely():
    orders = Counter(tuple(draw_bundle([0, 1, 2], ShuffledRound(buckets=7, messages=3)))
                     for _ in range(6_000))  # fmt: skip
    assert len(orders) == 6
    assert stats.chisquare(list(orders.values())).pvalue > 1e-6


@pytest.mark.parametrize("own", [[1, 1], [21], [-1]])
def test_equal_or_unknown_buckets_are_refused(own):
    with pytest.raises(RequestError, match="distinct buckets from 0 to 20"):
        draw_bundle(own, ROUND)


@pytest.mark.parametrize("items", [[1, 1], [0, 6], [-1, 0]])
def test_pairs_of_equal_or_unknown_items_are_refused_before_any_draw(items):
    with pytest.raises(RequestError, match="distinct buckets from 0 to 20"):
        draw_pair_bundle(items, ROUND, scripted([]))


@pytest.mark.parametrize("chosen", [[1, 1], [21], [-1], [0, 1, 2, 3, 4]])
def test_only_m_distinct_buckets_are_completed(chosen):
    """Buckets of another draw, such as one with signs, have the same conditions."""
    assert sorted(completed([5, 3], replace(ROUND, messages=2, dummies=0))) == [3, 5]
    assert len(completed([5, 3], ROUND)) == 10
    with pytest.raises(RequestError, match=r"distinct buckets from 0 to 20|at most 4 buckets"):
        completed(chosen, ROUND)


@pytest.mark.parametrize("pairs", [False, True])
def test_twin_sends_the_same_own_buckets_for_the_same_words(pairs):
    rng = np.random.default_rng(0)
    cells = rng.random((50, 30)) < np.linspace(0, 0.9, 50)[:, None]
    users, items = (codes.astype(np.int32) for codes in np.nonzero(cells))
    side = by_user(users, items, 50, 30)[0]
    words = rng.integers(0, LAST, words_needed(side, 12, pairs=pairs), np.uint64, endpoint=True)
    words[[0, 7, 30]] = LAST
    buckets = 30 * 31 // 2 if pairs else 30
    counts = np.zeros(buckets, np.int64)
    sent = count_messages(side, 12, words, counts, pairs=pairs)
    source, expected = scripted(words.tolist()), np.zeros(buckets, np.int64)
    for user in range(50):
        mine = np.flatnonzero(cells[user]).tolist()
        if pairs:
            own = [pair_bucket(*pair) for pair in sampled_pairs(mine, 12, source)]
        else:
            own = sampled(mine, 12, source)
        np.add.at(expected, own, 1)
    assert (counts == expected).all()
    assert sent == counts.sum()
