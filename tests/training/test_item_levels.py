"""Levels behind noisy sums: the prior knows how often items are rated, and their domain."""

import numpy as np
import pytest

from tacit.training.person.item_means import item_levels

CHANCE = np.random.default_rng(3)
N = 4000
WEIGHTS = np.exp(CHANCE.normal(2, 1, N))
GROUP = np.arange(N) % 2


def sums(levels, deviation):
    return WEIGHTS * levels + deviation * CHANCE.standard_normal(N)


def error(levels, found):
    return float(np.sqrt(np.mean((levels - found) ** 2)))


def test_levels_are_the_posterior_mean_under_the_law_they_came_from():
    often = np.log(WEIGHTS)
    prior = np.where(GROUP, 0.4 + 0.3 * (often - 2), -0.2)
    levels = prior + 0.2 * CHANCE.standard_normal(N)
    pull, noise = sums(levels, 6.0), np.full(N, 36.0)
    found = item_levels(WEIGHTS, pull, noise, 0.4, GROUP)
    kept = 0.04 / (0.04 + noise / WEIGHTS**2)
    exact = prior + kept * (pull / WEIGHTS - prior)
    # Of 40 draws the mean is .019 with a deviation of .009, and the gain .104 with one of .004.
    assert np.abs(found - exact).mean() < 0.06
    one = item_levels(WEIGHTS, pull, noise, 0.4, 0 * GROUP)
    assert error(levels, found) < error(levels, one) - 0.08


def test_how_often_says_nothing_where_it_has_nothing_to_say():
    levels = 0.3 * CHANCE.standard_normal(N)
    pull, noise = sums(levels, 6.0), np.full(N, 36.0)
    found = item_levels(WEIGHTS, pull, noise, 0.4, GROUP)
    kept = 0.09 / (0.09 + noise / WEIGHTS**2)
    # Of 40 draws the mean is .019 with a deviation of .009.
    assert np.abs(found - kept * pull / WEIGHTS).mean() < 0.06


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_items_of_one_weight_do(count):
    ones = np.ones(count)
    found = item_levels(ones, 0.5 * ones, ones, 0.4, np.arange(count))
    assert (np.abs(found) < 0.5).all()
