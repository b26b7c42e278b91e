"""What one person can add: norms in integers, sums in any order, and neighbours no farther."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.kernels.als import weighted_sums
from tacit.kernels.layout import layout
from tacit.readers import synthetic
from tacit.training.mechanism import contributions
from tacit.training.mechanism.contributions import (
    CanonicalRatings,
    NormBounds,
    packed,
    rounded,
    rounded_rows,
    unpacked,
)
from tacit.training.mechanism.noisy_releases import MOST_DEVIATION

CHANCE = np.random.default_rng(4)


@settings(max_examples=60)
@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40),
    st.sampled_from([2, 8, 100, 1 << 9, 1 << 14]),
    st.integers(1, 5),
)
def test_nobody_exceeds_the_bound_in_integers(amounts, bound, owners):
    owner = np.arange(len(amounts)) % owners
    steps = rounded(np.array(amounts), owner, owners, bound).astype(object)
    for person in range(owners):
        assert sum(int(step) ** 2 for step in steps[owner == person]) <= bound**2


def test_whoever_is_no_number_adds_nothing():
    steps = rounded(np.array([np.nan, 1.0, 0.5]), np.array([0, 0, 1]), 2, 100)
    assert steps.tolist() == [0, 0, 50]


def test_whoever_is_above_the_bound_is_brought_down_to_it():
    steps = rounded(np.array([3.0, 4.0, 1.0]), np.array([0, 0, 1]), 2, 100)
    assert steps.dtype == np.int32
    assert steps.tolist() == [60, 79, 100]  # less half a step an entry; 1 itself is kept whole


def test_a_rounding_that_goes_astray_is_left_out(monkeypatch):
    monkeypatch.setattr(contributions.np, "rint", lambda amounts: 2 * np.floor(amounts))
    steps = rounded(np.array([1.0, 0.25]), np.array([0, 1]), 2, 100)
    assert steps.tolist() == [0, 48]


def test_what_is_small_enough_is_kept_to_a_step():
    rows = CHANCE.standard_normal((50, 6))
    rows /= 1.1 * np.linalg.norm(rows, axis=1)[:, None]
    assert np.abs(rounded_rows(rows, 512) / 512 - rows).max() < 0.5 / 512 + 6**0.5 / 2 / 512


@pytest.mark.parametrize("K", [1, 5, 20])
def test_packing_keeps_the_norm_and_comes_undone(K):
    rows = CHANCE.standard_normal((20, K))
    vectors = packed(rows)
    assert np.allclose((vectors**2).sum(1), (rows**2).sum(1) ** 2)
    assert np.allclose(unpacked(vectors), rows[:, :, None] * rows[:, None, :])


def test_sums_are_those_of_a_loop():
    users, items = np.unique(CHANCE.integers(0, [30, 12], (200, 2)), axis=0).T
    cells, _ = layout(users.astype(np.int32), items.astype(np.int32), 30, 12)
    weights = CHANCE.integers(-99, 99, len(users)).astype(np.int32)
    rows = CHANCE.integers(-99, 99, (30, 3)).astype(np.int32)
    expected = [[0] * 3 for _ in range(12)]
    for user, item, weight in zip(users, items, weights, strict=True):
        for d in range(3):
            expected[item][d] += int(weight) * int(rows[user, d])
    assert weighted_sums(cells.items, weights, rows).tolist() == expected


def replaced(grid: NormBounds, K: int, *, labels: bool, items: int = 6) -> float:
    """The farthest that totals moved when one person took another's place, over many pairs."""
    farthest = 0.0
    for _ in range(300):
        totals = []
        for _ in range(2):
            row = CHANCE.standard_normal((1, K)) ** CHANCE.choice([1, 9])
            row /= np.linalg.norm(row)
            cells = CHANCE.standard_normal(items) if labels else CHANCE.random(items)
            cells *= CHANCE.random(items) < CHANCE.choice([0.3, 1])
            s = rounded(9 * cells, np.zeros(items, np.int64), 1, grid.weights).astype(np.int64)
            x = rounded_rows(row if labels else packed(row), grid.rows).astype(np.int64)[0]
            totals.append(s[:, None] * x)
        farthest = max(farthest, float(np.sqrt(((totals[0] - totals[1]) ** 2).sum())))
    return farthest


@pytest.mark.sampled(4)
@pytest.mark.parametrize("grid", [NormBounds(4, 2), NormBounds(64, 8), NormBounds(1 << 13, 1 << 9)])
@pytest.mark.parametrize("K", [1, 3, 8])
def test_neighbours_are_no_farther_apart_than_declared(grid, K):
    gram = contributions.gram_sensitivity(grid, K * (K + 1) // 2)
    assert replaced(grid, K, labels=False) <= gram
    assert replaced(grid, K, labels=True) <= contributions.any_sensitivity(grid)
    if grid.rows > 8:  # on a fine grid what is declared is not much more than what happens
        assert replaced(grid, K, labels=False) > 0.9 * gram
        assert replaced(grid, 1, labels=True) > 0.8 * contributions.any_sensitivity(grid)


@pytest.mark.parametrize("bound", [1, 2, 5, 100, 1 << 14])
def test_totals_of_weights_move_by_the_root_of_2_rounded_up(bound):
    found = contributions.count_sensitivity(bound)
    assert (found - 1) ** 2 < 2 * bound**2 <= found**2


@pytest.mark.parametrize("grid", [NormBounds(4, 2), NormBounds(64, 8), NormBounds(1 << 13, 1 << 9)])
@pytest.mark.parametrize("width", [1, 6, 78])
def test_gram_sensitivity_is_its_formula_rounded_up(grid, width):
    W, R = grid
    exact = Fraction(2 * W**2 * R**2), Fraction(4 * W**4 * R**2 * width)  # a + sqrt(b), squared
    found = contributions.gram_sensitivity(grid, width)
    assert (found**2 - exact[0]) ** 2 >= exact[1]
    assert found <= W * math.sqrt(2 * (R**2 + math.sqrt(width) * R + 1)) + 1


@pytest.mark.parametrize("multiplier", [0.7, 30, 900, 40_000, MOST_DEVIATION / 8.05])
def test_a_grid_is_as_fine_as_the_noise_leaves_room_for(multiplier):
    grid, finest = contributions.grid(multiplier), 1 << contributions.MOST_WEIGHTS
    assert 2.01 * multiplier * grid.weights * grid.rows <= MOST_DEVIATION
    if grid.weights < finest:
        assert 2.01 * multiplier * 2 * grid.weights * grid.rows > MOST_DEVIATION
    counts = contributions.count_grid(2 * multiplier)
    assert counts == finest or 2.01 * 2 * multiplier * 2 * counts > MOST_DEVIATION
    assert 2.01 * 2 * multiplier * counts <= MOST_DEVIATION


@pytest.mark.parametrize("multiplier", [0.02, 0.7, 30, 900, 40_000])
def test_a_grid_leaves_room_for_the_noise(multiplier):
    grid = contributions.grid(multiplier)
    widest = max(
        contributions.any_sensitivity(grid),
        contributions.gram_sensitivity(grid, 78),
    )
    assert multiplier * widest <= MOST_DEVIATION
    assert multiplier * 2 * contributions.count_grid(multiplier) <= MOST_DEVIATION


def test_canonical_ratings_are_sorted_and_centred():
    ratings = synthetic(n_users=12, n_items=60, n_ratings=300, scale="0.5:5:0.5")
    low, high = ratings.scale.values[0], ratings.scale.values[-1]
    rows = sorted(zip(ratings.users, ratings.items, ratings.values, strict=True))
    canonical = CanonicalRatings.of(ratings)
    assert canonical.half == (high - low) / 2
    assert canonical.person.tolist() == [user for user, _, _ in rows]
    assert canonical.item.tolist() == [item for _, item, _ in rows]
    assert canonical.values.tolist() == [value - (low + high) / 2 for _, _, value in rows]


def test_weights_keep_both_bounds_for_everybody():
    canonical = CanonicalRatings.of(synthetic(n_users=40, n_items=60, n_ratings=1000))
    wanted = CHANCE.random(60) + 0.1
    weights = contributions.weights(canonical, wanted, canonical.values, 0.9)
    assert canonical.of_person(weights**2).max() < 1 + 1e-12
    assert canonical.of_person((weights * canonical.values) ** 2).max() < 0.81 + 1e-12
    full = np.maximum(
        canonical.of_person(weights**2),
        canonical.of_person((weights * canonical.values) ** 2) / 0.81,
    )
    assert np.allclose(full, 1)
