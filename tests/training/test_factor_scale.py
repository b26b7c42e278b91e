"""The scale of factors is chosen by held-out ratings, and only against clear odds."""

import numpy as np
import pytest

from tacit.readers import synthetic
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.noisy_releases import SecretReleases
from tacit.training.person.item_rows import FACTOR_SCALES, FOLDS, chosen, factor_scale, held_out

PRECISION = np.array([5.0, 0.7, 0.7])


@pytest.fixture(scope="module")
def planted():
    """A canonical, and targets that two known factors of their items explain."""
    canonical = CanonicalRatings.of(synthetic(n_users=500, n_items=80, n_ratings=15_000, rng=4))
    chance = np.random.default_rng(0)
    factors, rows = chance.normal(0, 0.4, (80, 2)), chance.standard_normal((500, 2))
    taste = (rows[canonical.person] * factors[canonical.item]).sum(1)
    return canonical, factors, taste + chance.normal(0, 0.8, len(taste))


def asked(planted, factors, epsilon="50"):
    canonical, _, targets = planted
    account = Account(epsilon, "1e-6", SecretReleases())
    account.allot({"factor scale": 1.0})
    return factor_scale(canonical, targets, factors, PRECISION, account)


def test_held_out_errors_are_those_of_ridge_rows_from_the_other_folds(planted):
    canonical, factors, targets = planted
    errors = held_out(canonical, targets, factors, PRECISION)
    mine = np.flatnonzero(canonical.person == 7)
    for n, rating in enumerate(mine):
        rest = mine[np.arange(len(mine)) % FOLDS != n % FOLDS]
        X = np.column_stack([np.ones(len(rest)), factors[canonical.item[rest]]])
        row = np.linalg.solve(X.T @ X + np.diag(PRECISION), X.T @ targets[rest])
        expected = targets[rating] - row @ np.r_[1, factors[canonical.item[rating]]]
        assert errors[rating] == pytest.approx(expected, abs=1e-9)


def test_true_factors_keep_their_scale_and_others_lose_it(planted):
    _, factors, _ = planted
    others = np.random.default_rng(1).normal(0, 1.5, factors.shape)
    assert asked(planted, factors) == 1
    assert asked(planted, 4 * factors) < 1
    assert asked(planted, others) <= FACTOR_SCALES[1]


def test_noise_alone_changes_nothing(planted):
    _, factors, _ = planted
    # Each of three rivals is clear by chance once in 750: four times in 20 happens to nobody.
    assert [asked(planted, 4 * factors, "0.01") for _ in range(20)].count(1.0) > 16


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ([10, 5, 5, 5], 1.0),
        ([10, 5, 5, 14], 1.0),
        ([10, 5, 5, 15], 0.7),
        ([-40, -9, -20, -30], 0.0),
        ([-40, -2, -20, -30], 0.25),
        ([-2, -9, -9, -9], 1.0),
    ],
)
def test_a_scale_has_to_be_clear_of_noise(totals, expected):
    assert chosen(np.array(totals), noise=1.0) == expected
