"""Cuts between medians: those of least error where links are many, midpoints where they are few."""

import numpy as np
import pytest

from tacit.crossdomain.x_map.strict import BINS, bin_edges, cuts, medians

LEVELS = np.arange(1.0, 6.0)
MIDPOINTS = np.arange(1.5, 5.0)


def table(scores, ratings):
    found = np.zeros((4 * BINS + 1, 5))
    places = np.searchsorted(bin_edges(LEVELS), scores, side="right")
    np.add.at(found, (places, ratings.astype(int) - 1), 1.0)
    return found


def skewed(count):
    """Ratings that are mostly above their score, with a long tail below."""
    chance = np.random.default_rng(1)
    scores = chance.uniform(1.5, 4.9, count)
    drawn = scores + 0.6 - chance.exponential(0.6, count) + 0.3 * chance.standard_normal(count)
    return scores, np.clip(np.rint(drawn), 1, 5)


def test_many_ratings_give_cuts_of_least_error():
    scores, ratings = skewed(40_000)
    found = cuts(table(scores, ratings), 0.01, LEVELS)
    mine, middle = (
        np.abs(ratings - medians(scores, at, LEVELS)).mean() for at in (found, MIDPOINTS)
    )
    best = min(
        np.abs(ratings - medians(scores, MIDPOINTS - shift, LEVELS)).mean()
        for shift in np.arange(0, 0.6, 0.05)
    )
    assert mine < best + 0.002
    assert mine < middle - 0.004  # over thirty worlds .0106, with a deviation of .0016


def test_a_cut_is_where_a_loop_finds_the_least_error():
    scores, ratings = skewed(3000)
    found = cuts(table(scores, ratings), 1e-6, LEVELS)
    edges = bin_edges(LEVELS)
    for k, cut in enumerate(found):
        # |r - median| falls apart into one step for each k that lies between the two.
        errors = np.array([np.sum((scores >= edge) != (ratings > k + 1)) for edge in edges])
        ties = edges[errors == errors.min()]
        assert ties.min() - 1e-9 <= cut <= ties.max() + 1e-9


def test_noise_alone_leaves_the_cuts_near_midpoints():
    noise = 50 * np.random.default_rng(2).standard_normal((200, 4 * BINS + 1, 5))
    found = np.array([cuts(one, 50.0, LEVELS) for one in noise])
    assert np.abs(found.mean(0) - MIDPOINTS).max() < 0.15
    assert np.abs(found - MIDPOINTS).max() < 1
    assert (np.diff(found, axis=1) >= 0).all()
    assert cuts(0 * noise[0], 1.0, LEVELS) == pytest.approx(MIDPOINTS, abs=0.12)


def test_a_median_is_a_level_and_changes_at_its_cut():
    scores = np.array([0.0, 1.4, 1.6, 3.0, 5.0])
    assert medians(scores, np.array([1.5, 2.0, 3.0, 4.0]), LEVELS).tolist() == [1, 1, 2, 4, 5]
