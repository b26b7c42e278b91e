"""The matrix mechanism: exact factors, its noise beside one release, and its price by a library."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import toeplitz

from tacit.errors import RequestError
from tacit.training.continual.prefix_sums import UNIT, PrefixSums
from tacit.training.mechanism.accounting import least_multiplier, renyi_epsilon

WEEKS = 52


def naive_root(releases):
    """Solve B B = A, A a lower triangular matrix of ones, column by column, in fractions."""
    first = [Fraction(1)]
    for k in range(1, releases):
        known = sum(first[j] * first[k - j] for j in range(1, k))
        first.append((1 - known) / 2)
    return first


def test_entries_are_those_of_the_square_root():
    exact = naive_root(WEEKS)
    assert exact[3] == Fraction(math.comb(6, 3), 4**3)
    rounded = [Fraction(entry, UNIT) for entry in PrefixSums(WEEKS).entries.tolist()]
    assert all(abs(r - x) <= Fraction(1, 2 * UNIT) for r, x in zip(rounded, exact, strict=True))


@pytest.mark.parametrize("releases", [1, 2, 7, WEEKS])
def test_both_factors_give_prefix_sums(releases):
    prefix = PrefixSums(releases)
    zeros = np.zeros(releases)
    rounded, recovery = (toeplitz(factor, zeros) for factor in (prefix.entries, prefix.recovery))
    np.testing.assert_allclose(recovery @ rounded, np.tril(np.ones((releases,) * 2)), atol=1e-12)


def test_noise_of_a_year_is_at_most_2_4_times_that_of_one_release():
    prefix = PrefixSums(WEEKS)
    factors = [prefix.deviation(release) for release in range(1, WEEKS + 1)]
    assert factors == sorted(factors)
    assert 2.3 < factors[-1] <= 2.4
    # Independent noise at equal shares of the budget: sqrt(52).
    assert math.sqrt(WEEKS) > 7.2
    assert PrefixSums(1).deviation(1) == pytest.approx(1)


@pytest.mark.parametrize("first", [0, 25, 51])
def test_all_releases_that_read_a_rating_cost_at_most_epsilon(first):
    """By dp-accounting: a user whose ratings are new at one release moves all later ones."""
    prefix = PrefixSums(WEEKS)
    multiplier = least_multiplier("1", "1e-6")
    norm = math.sqrt(prefix.squared_norm)
    entries = [e for e in prefix.entries[: WEEKS - first].tolist() if e]
    multipliers = [f"{multiplier * norm / e:.12f}" for e in entries]
    epsilon = renyi_epsilon(multipliers, "1e-6")
    assert epsilon <= 1 + 1e-9
    if first == 0:
        assert epsilon == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("releases", [0, 1001])
def test_other_numbers_of_releases_are_refused(releases):
    with pytest.raises(RequestError, match=r"releases must be from 1 to 1,000"):
        PrefixSums(releases)
