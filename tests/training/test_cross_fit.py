"""Rows that have not seen the ratings they are set against, and factors as strong as they are."""

import numpy as np
import pytest

from tacit.models import device_predict
from tacit.readers import synthetic
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.dpals import DPALS
from tacit.training.person.item_rows import FOLDS, CrossFit, unattenuated

PRECISION = np.array([5.0, 0.7, 0.7])


def crowd_and_factors():
    canonical = CanonicalRatings.of(synthetic(n_users=30, n_items=80, n_ratings=900, rng=4))
    return canonical, np.random.default_rng(0).standard_normal((80, 2))


def test_every_row_is_the_ridge_solution_of_the_other_folds():
    canonical, factors = crowd_and_factors()
    fit = CrossFit.of(canonical, canonical.values, factors, PRECISION)
    for person in range(canonical.people):
        mine = np.flatnonzero(canonical.person == person)
        assert fit.row[mine].tolist() == [person * FOLDS + n % FOLDS for n in range(len(mine))]
        for fold in range(FOLDS):
            rest = mine[np.arange(len(mine)) % FOLDS != fold]
            X = np.column_stack([np.ones(len(rest)), factors[canonical.item[rest]]])
            row = np.linalg.solve(X.T @ X + np.diag(PRECISION), X.T @ canonical.values[rest])
            assert fit.levels[person * FOLDS + fold] == pytest.approx(row[0], abs=1e-9)
            length_1 = row[1:] / np.linalg.norm(row[1:])
            assert fit.rows[person * FOLDS + fold] == pytest.approx(length_1, abs=1e-9)


def test_a_rating_does_not_move_the_row_that_it_meets():
    canonical, factors = crowd_and_factors()
    before = CrossFit.of(canonical, canonical.values, factors, PRECISION)
    for rating in range(0, len(canonical.values), 37):
        targets = canonical.values.copy()
        targets[rating] += 3
        after = CrossFit.of(canonical, targets, factors, PRECISION)
        change = np.column_stack([after.rows - before.rows, after.levels - before.levels])
        moved = np.flatnonzero(np.abs(change).max(1) > 1e-12)
        assert before.row[rating] not in moved
        assert set(moved // FOLDS) == {canonical.person[rating]}


def test_factors_of_known_strength_are_found_again():
    chance = np.random.default_rng(1)
    true = chance.normal(0, [0.3, 0.1], (50, 2))
    weights = chance.uniform(1, 9, 50)
    strong = weights @ true**2 / weights.sum()
    behind = 24 * (1 - 1 / FOLDS)
    seen = true * np.sqrt(strong * behind / (strong * behind + 0.7))
    assert unattenuated(seen, weights, 24, 0.7) == pytest.approx(true, rel=1e-9)
    assert not unattenuated(np.zeros((50, 2)), weights, 24, 0.7).any()


def test_ratings_without_tastes_teach_none():
    """Noise alone costs .0007 in most draws, .0025 in one of fifteen; rows that had seen their
    ratings cost .05."""
    chance = np.random.default_rng(5)
    ratings = synthetic(n_users=4000, n_items=150, n_ratings=110_000, rng=6)
    ratings.levels[:] = chance.permutation(ratings.levels)
    held = chance.random(len(ratings)) < 0.1
    own, test = ratings.where(~held), ratings.where(held)

    def error(factors):
        fitted = DPALS(factors=factors).fit(own, epsilon="300")
        values = device_predict(fitted, own, test.users, test.items)
        return np.sqrt(np.mean((np.clip(values, 1, 5) - test.values) ** 2))

    assert error(6) < error(0) + 0.01
