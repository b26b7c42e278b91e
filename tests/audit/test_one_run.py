"""Bounds from one run: never above what holds, above what does not."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from tacit.audit.one_run import OneRun, guessed, one_run, with_canaries
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Rated
from tacit.errors import RequestError
from tacit.readers import synthetic
from tacit.training import FAITHFUL, LIST_TRAININGS, PER_PERSON, STRICT
from tacit.training.mechanism.noisy_releases import SecretReleases

TRAININGS = {one.name: one for one in (*STRICT, *LIST_TRAININGS.values())}
EPSILONS = ("1", "3", "10")
FAMILY = 1 - 0.05 / (len(TRAININGS) * len(EPSILONS))
"""The confidence of each, so that all bounds together hold with probability .95."""


def unit(name):
    return "user" if name in (*PER_PERSON, *LIST_TRAININGS) else "value"


@pytest.fixture(scope="module")
def ratings():
    return synthetic(300, 80, 8000, rng=1)


def test_without_delta_it_is_the_binomial_test():
    for right in (0, 40, 61, 80, 100):
        found = OneRun(canaries=500, guesses=100, right=right, delta=0)
        for epsilon in (0.0, 0.7, 2.0):
            share = 1 / (1 + math.exp(-epsilon))
            exact = binomtest(right, 100, share, alternative="greater").pvalue
            assert found.p_value(epsilon) == pytest.approx(exact, rel=1e-9)


def test_a_delta_makes_it_milder_by_what_the_theorem_says():
    """max over i of P(right - i <= Bin < right) 2 m delta / i, summed one by one."""
    found = OneRun(canaries=500, guesses=100, right=70, delta=1e-4)
    share = 1 / (1 + math.exp(-0.5))
    mass = [math.comb(100, k) * share**k * (1 - share) ** (100 - k) for k in range(101)]
    most = max(sum(mass[70 - i : 70]) / i for i in range(1, 71))
    assert found.p_value(0.5) == pytest.approx(sum(mass[70:]) + 2 * 500 * 1e-4 * most)
    assert found.least_epsilon() < replace(found, delta=0.0).least_epsilon()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_bounds_of_randomized_response_hold_and_come_near(epsilon):
    """Coins through the table whose epsilon is attained: wrong in at most one of twenty runs."""
    chance = np.random.default_rng(4)
    bounds = []
    for _ in range(200):
        coins = chance.random(2000) < 0.5
        truthful = chance.random(2000) < 1 / (1 + math.exp(-epsilon))
        bounds.append(
            guessed((coins == truthful) + chance.random(2000) / 9, coins, 0).least_epsilon()
        )
    wrong = np.mean(np.array(bounds) > epsilon)
    assert wrong < 0.05 + 4.5 * math.sqrt(0.05 * 0.95 / 200)
    assert np.median(bounds) > 0.75 * epsilon - 0.2


@pytest.mark.parametrize(("unit", "each"), [("user", 2), ("value", 1)])
def test_canaries_have_items_of_their_own_and_the_others_keep_theirs(ratings, unit, each):
    coins = np.random.default_rng(0).random(40) < 0.5
    joined = with_canaries(ratings, coins, unit)
    assert (joined.n_users, joined.n_items) == (340, 80 + each * 40)
    mine = joined.where(joined.items >= 80)
    assert (mine.users == 300 + (mine.items - 80) // each).all()
    assert np.bincount(mine.items, minlength=80)[80:].max() == 1
    high = mine.values == 5
    if unit == "user":
        assert len(mine) == 2 * coins.sum()
        assert (high == (mine.items % 2 == 0)).all()
    else:
        assert (high[np.argsort(mine.items)] == coins).all()
    rest = joined.where(joined.items < 80)
    assert (rest.values == ratings.values).all()


def test_a_coin_changes_one_value(ratings):
    """Otherwise a channel with epsilon per value may reveal a multiple of epsilon about a coin."""
    coins = np.random.default_rng(0).random(40) < 0.5
    flipped = coins ^ (np.arange(40) == 7)
    one, other = (with_canaries(ratings, each, "value") for each in (coins, flipped))
    assert (one.items == other.items).all()
    assert np.count_nonzero(one.levels != other.levels) == 1


def test_a_channel_at_epsilon_per_value_is_not_shown_to_have_more(ratings):
    """A bound exceeds epsilon in a run with a probability of at most .05: 6 of 20 runs or more do
    with a probability below 4e-4."""
    channel = compile_channel("optimal", epsilon="1", scale=ratings.scale)
    table = np.log(np.array(channel.likelihood))
    evidence = table[-1] - table[0]
    bounds = []
    for seed in range(20):
        coins = np.random.default_rng(seed).random(5000) < 0.5
        sent = perturb(with_canaries(ratings, coins, "value"), Rated(channel), simulate_seed=seed)
        scores = np.zeros(80 + 5000)
        scores[sent.items] = evidence[sent.symbols]
        bounds.append(guessed(scores[80:], coins, 0.0).least_epsilon())
    assert np.count_nonzero(np.array(bounds) > 1) < 6
    assert np.median(bounds) > 0.4


@pytest.mark.parametrize("name", ["dp-covariance", "dp-bias", "dp-popularity"])
def test_a_strict_training_is_not_shown_to_have_more(ratings, name):
    found = one_run(lambda data: TRAININGS[name].fit(data, epsilon="1", delta="1e-6"),
                    ratings, unit(name), seed=1)  # fmt: skip
    assert found.least_epsilon(0.999) <= 1


class Quieter(SecretReleases):
    """The planted fault: noise for a twentieth of the sensitivity."""

    def laplace(self, name, totals, *, sensitivity, epsilon):
        least = max(1, sensitivity // 20)
        return super().laplace(name, totals, sensitivity=least, epsilon=epsilon)


class RawMeans(SecretReleases):
    """The planted fault: whatever is called means goes out as it is."""

    def gaussian(self, name, totals, *, sensitivity, multiplier):
        noisy = super().gaussian(name, totals, sensitivity=sensitivity, multiplier=multiplier)
        return totals if "means" in name or name == "counts" else noisy


class RawCounts(SecretReleases):
    """The planted fault: counts, which say what can be listed at all, go out as they are."""

    def gaussian(self, name, totals, *, sensitivity, multiplier):
        noisy = super().gaussian(name, totals, sensitivity=sensitivity, multiplier=multiplier)
        return totals if "count" in name else noisy


@pytest.mark.parametrize(
    ("name", "releases"),
    [("dp-bias", Quieter), ("dp-covariance", RawMeans), ("dp-popularity", RawCounts)],
    ids=["noise scaled down", "means left raw", "candidates left raw"],
)
def test_a_planted_leak_is_shown(ratings, name, releases):
    found = one_run(
        lambda data: TRAININGS[name].fit(data, epsilon="1", delta="1e-6", releases=releases()),
        ratings,
        unit(name),
        seed=1,
    )
    assert found.least_epsilon(0.999) > 1, found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "training",
    [pytest.param(one, marks=pytest.mark.long) if one.implicit else one for one in FAITHFUL],
    ids=lambda one: one.name,
)
def test_the_published_claims_are_shown_to_fail(ratings, training):
    """Item means leave as they are: gradient, objective and output perturbation alike."""
    short = replace(training, rounds=2)  # the means leave before the first round
    found = one_run(lambda data: short.fit(data, epsilon="1"), ratings, "value", seed=1)
    assert found.least_epsilon(0.999) > 3


@pytest.mark.long
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", list(TRAININGS))
def test_no_strict_training_is_shown_to_have_more(ratings, name, epsilon):
    found = one_run(lambda data: TRAININGS[name].fit(data, epsilon=epsilon, delta="1e-6"),
                    ratings, unit(name), seed=int(epsilon))  # fmt: skip
    assert found.least_epsilon(FAMILY) <= float(epsilon), found


def test_odd_requests_are_refused(ratings):
    for canaries, unit in ((9, "user"), (100, "slot")):
        with pytest.raises(RequestError, match="canaries must be at least 10"):
            one_run(lambda data: None, ratings, unit, canaries=canaries, seed=0)
