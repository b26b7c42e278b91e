"""What the published theorems say, and what happens."""

import math

import numpy as np
import pytest

from tacit_studies.x_map.bounds import moved, neighbours_drawn

GONE = np.nan


def cosine(a, b):
    both = ~np.isnan(a) & ~np.isnan(b)
    norms = math.sqrt(np.nansum(a**2) * np.nansum(b**2))
    return float((a[both] * b[both]).sum() / norms) if norms > 1e-12 else 0.0


def test_changes_are_those_of_leaving_people_out():
    chance = np.random.default_rng(5)
    for _ in range(40):
        pair = chance.normal(size=(2, 7))
        pair[chance.random(pair.shape) < 0.3] = GONE
        a, b = pair
        left = [cosine(np.delete(a, x), np.delete(b, x)) for x in range(7)]
        change = np.abs(np.array(left) - cosine(a, b))
        kinds = np.isnan(pair).sum(0)
        found = moved(a, b)
        assert found.shared == pytest.approx(max(change[kinds == 0], default=0))
        assert found.single == pytest.approx(max(change[kinds == 1], default=0))


def test_the_printed_sensitivity_may_be_negative_and_is_no_bound():
    found = moved(np.array([1.0, -1.0]), np.array([-1.0, 1.0]))
    assert found.printed == pytest.approx(-1)
    assert not found.holds


def test_theorem_two_fails_for_users_with_one_rating():
    """That person is in a norm and in no product, so SS does not look at them."""
    found = moved(np.array([1.0, 1.0, 3.0]), np.array([1.0, 1.0, GONE]))
    assert found.single > found.printed > 0
    assert not found.holds


def test_it_holds_where_everybody_agrees_and_rates_both():
    found = moved(np.array([1.0, 1.2, 0.9, 1.1]), np.array([1.0, 1.1, 1.0, 0.9]))
    assert found.shared <= found.printed
    assert found.holds


def test_with_one_small_sensitivity_for_all_three_and_four_hold():
    s = np.linspace(-0.5, 0.9, 60)
    drawn = neighbours_drawn(s, np.full(60, 1e-4), 5, 2.0, 100, 50)
    assert drawn.above >= 45
    assert drawn.present >= 45
    assert not drawn.silent


def test_with_sensitivity_per_pair_least_alike_is_first():
    """A tiny SS outweighs every similarity."""
    s = np.array([0.9, 0.8, 0.7, 0.05])
    sensitivity = np.array([0.05, 0.05, 0.05, 1e-6])
    drawn = neighbours_drawn(s, sensitivity, 1, 5.0, 10, 200)
    assert drawn.above == 0
    assert not drawn.silent


def test_a_wide_w_says_nothing():
    s = np.linspace(-0.2, 0.9, 400)
    assert neighbours_drawn(s, np.full(400, 0.05), 50, 0.8, 10_000, 3).silent
