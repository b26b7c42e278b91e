"""One budget for a person: the figures of the papers, shares that add up, and what is refused."""

import math

import numpy as np
import pytest

from tacit.errors import CertificateError, RequestError
from tacit.training.mechanism import accounting
from tacit.training.mechanism.accounting import (
    Account,
    least_multiplier,
    loss_epsilon,
    renyi_epsilon,
    simple_epsilon,
)
from tacit.training.mechanism.noisy_releases import SecretReleases, Spend

ZEROS = np.zeros(4, np.int64)


@pytest.mark.parametrize(("noise", "epsilon"), [(5, 31.67), (10, 13.31), (20, 6.02), (50, 2.26)])
def test_the_published_accounting_of_five_steps(noise, epsilon):
    # Five steps of a Gramian at this multiplier, and of A and h at sqrt(50) times the sensitivity.
    multipliers = [f"{noise}"] * 5 + [f"{noise / math.sqrt(50)}"] * 10
    assert simple_epsilon(multipliers, "1e-5") == pytest.approx(epsilon, abs=5e-3)
    assert 0.8 * epsilon < renyi_epsilon(multipliers, "1e-5") < epsilon


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_a_budget_is_spent_to_its_end_and_never_beyond(epsilon):
    account = Account(epsilon, "1e-6", SecretReleases())
    account.allot({"one": 0.1, "two": 0.2})
    account.gaussian("one", ZEROS, sensitivity=1)
    account.allot({"three": 0.7})  # after a look at what came out
    for name in ("two", "three"):
        account.gaussian(name, ZEROS, sensitivity=1)
    assert 0.99 * float(epsilon) < account.close() <= float(epsilon)
    prices = [look.price for look in account.spent]
    assert 0.8 * float(epsilon) < loss_epsilon(prices, "1e-6") < float(epsilon)
    alone = sum(float(price) ** -2 for price in prices) ** -0.5
    assert alone == pytest.approx(least_multiplier(epsilon, "1e-6"), rel=1e-4)


def test_what_was_not_planned_is_not_released():
    account = Account("1", "1e-6", SecretReleases())
    account.allot({"one": 0.5})
    with pytest.raises(CertificateError, match="two has no share"):
        account.gaussian("two", ZEROS, sensitivity=1)
    account.gaussian("one", ZEROS, sensitivity=1)
    with pytest.raises(CertificateError, match="can be made only once"):
        account.gaussian("one", ZEROS, sensitivity=1)
    for shares in ({"two": 0.6}, {"one": 0.1}, {"three": 0.0}, {"four": math.nan}):
        with pytest.raises(CertificateError, match="above 0, planned once and at most 1"):
            Account("1", "1e-6", SecretReleases(), {"one": "9"}, [], 0.5).allot(shares)


def test_an_account_counts_from_where_it_was_opened_and_may_plan_nothing():
    releases = SecretReleases(spent=[Spend("before", "gaussian", "0.1")])
    account = Account("1", "1e-6", releases)
    account.allot({})
    account.allot({"one": 1})
    account.gaussian("one", ZEROS, sensitivity=1)
    assert 0.99 < account.close() <= 1
    assert account.spent == releases.spent[1:]


def test_a_door_that_drew_other_noise_voids_the_account():
    account = Account("1", "1e-6", SecretReleases())
    account.allot({"one": 1})
    account.gaussian("one", ZEROS, sensitivity=1)
    account.spent[0] = Spend("one", "gaussian", "99")
    with pytest.raises(CertificateError, match="The noise drawn"):
        account.close()
    account = Account("1", "1e-6", SecretReleases(), {"one": "0.5"})
    account.gaussian("one", ZEROS, sensitivity=1)
    with pytest.raises(CertificateError, match="above 1"):
        account.close()


def test_promises_that_are_none_are_refused(monkeypatch):
    for epsilon, delta, words in [
        ("0", "1e-6", "epsilon must be a positive decimal .* got '0'"),
        ("x", "1e-6", "got 'x'"),
        ("1", "0", "got '0'"),
        ("1", "1", "got '1'"),
        ("1", "small", "got 'small'"),
    ]:
        with pytest.raises(RequestError, match=words):
            Account(epsilon, delta, SecretReleases())
    with pytest.raises(RequestError, match="No noise level satisfies"):
        least_multiplier("1000000000", "1e-6")
    monkeypatch.setattr(accounting, "find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"tacit-recommender\[curator\]"):
        Account("1", "1e-6", SecretReleases())


def test_what_is_reserved_comes_first_and_the_rest_is_all_that_is_left():
    account = Account("2", "1e-6", SecretReleases())
    account.reserve("last", 0.2)
    assert account.alone == pytest.approx(least_multiplier("2", "1e-6") / math.sqrt(0.8))
    account.allot({"one": 0.5, "two": 0.5})
    for name in ("one", "two", "last"):
        account.gaussian(name, ZEROS, sensitivity=1)
    assert 0.99 * 2 < account.close() <= 2
    with pytest.raises(CertificateError, match="must be reserved before"):
        account.reserve("late", 0.1)
