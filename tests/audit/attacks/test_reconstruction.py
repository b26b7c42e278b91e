"""Reconstruction and order: at the table's bound on clean reports, and above it on leaky ones."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.audit.attacks.order import Order
from tacit.audit.attacks.reconstruction import EACH, KNOWN, PRESENCE, Reconstruction
from tacit.audit.attacks.world import World, taken
from tacit.readers import synthetic

PLANS = ("rated", "catalogue", "sample:60")


@pytest.fixture(scope="session")
def many():
    """People with more ratings each than the usual ones."""
    return synthetic(600, 200, 50_000, rng=6)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_stars_are_guessed_as_often_as_the_epsilon_allows(world, figure, many, epsilon):
    clean = world("rated", epsilon, ratings=many)
    found = figure(Reconstruction().run(clean), "balanced accuracy", EACH)
    power = math.exp(float(epsilon))
    assert found.bound == pytest.approx(power / (power + 4), abs=1e-12)
    assert abs(found.value - found.bound) < 4.5 * found.error < 0.02
    assert found.baseline == 0.2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("plan", PLANS)
def test_the_expected_figures_are_those_of_clean_reports(world, figure, plan):
    """Over 20 draws the mean figure is its bound, so that the bound is the expected value."""
    runs = [Reconstruction().run(world(plan, "1", seed=seed)) for seed in range(20)]
    assert not any(found.leaks for run in runs for found in run)
    chosen = [figure(run, "accuracy", KNOWN) for run in runs]
    gaps = [found.value - found.bound for found in chosen]
    # Under `sample` the slots asked about are few, and their shares not quite those of all.
    slack = 0.02 if plan == "sample:60" else 0
    assert abs(np.mean(gaps)) < slack + 4 * chosen[0].error / math.sqrt(20)
    if plan == "catalogue":
        sure = [figure(run, "precision", PRESENCE) for run in runs]
        gaps = [found.value - found.bound for found in sure]
        assert abs(np.mean(gaps)) < 4 * sure[0].error / math.sqrt(20)


def test_presence_is_plain_under_rated_and_hidden_in_a_catalogue(world, figure):
    def recall(plan, epsilon):
        return figure(Reconstruction().run(world(plan, epsilon)), "recall")

    assert recall("rated", "0.1").value == 1
    none, much = recall("catalogue", "0.01"), recall("catalogue", "6")
    assert none.value == pytest.approx(none.baseline, abs=0.01)
    assert much.value > 0.9 > much.baseline + 0.2


def test_without_privacy_everything_is_guessed(people):
    found = Reconstruction().run(World.unprotected(people, "rated", 0))
    assert {f.value for f in found} == {1.0}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_channel_a_tenth_hotter_than_its_claim_is_found(world, plan):
    """Planted: the devices draw at epsilon 1.1, and the table that is shown says 1."""
    many = synthetic(600, 400, 90_000, rng=6)
    claim = world(plan, "1", ratings=many)
    for seed in range(3):
        hot = replace(claim, collect=world(plan, "1.1", ratings=many).collect, seed=seed)
        assert any(found.leaks for found in Reconstruction().run(hot)), plan


def test_missing_answers_that_stay_away_are_found(world):
    """Planted: a device says nothing where there is no rating, under a plan over slots."""
    clean = world("catalogue", "1")

    def honest_only(whose, seed):
        sent = clean.collect(whose, seed)
        return taken(sent, np.flatnonzero(clean.rows[sent.users, sent.items]))

    leaks = {f.figure for f in Reconstruction().run(replace(clean, collect=honest_only)) if f.leaks}
    assert leaks == {"precision"}


def by_value(clean, own):
    """What leaves, sorted by true rating: of everybody, or of each person."""

    def collect(whose, seed):
        sent = clean.collect(whose, seed)
        rows = clean.rows[sent.users, sent.items]
        order = np.lexsort((sent.items, rows, sent.users) if own else (sent.items, rows))
        return taken(sent, order)

    return replace(clean, collect=collect)


@pytest.mark.parametrize(
    ("own", "where"), [(False, "position among all"), (True, "position in a prof")]
)
@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_reports_in_order_of_value_are_found(world, figure, many, plan, own, where):
    clean = world(plan, "1", ratings=many)
    before, after = (
        figure(Order().run(w), "accuracy", where) for w in (clean, by_value(clean, own))
    )
    assert not before.leaks
    assert after.leaks
    assert after.value > before.value + 0.1


def test_an_order_that_says_nothing_of_values_is_not_accused(world):
    """By item first, and drawn at random: other than ours, and as good."""
    clean = world("rated", "1")
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(clean.reports.users))
        shuffled = taken(clean.reports, order)
        leaky = replace(clean, collect=lambda whose, run, shuffled=shuffled: shuffled)
        assert not any(found.leaks for found in Order().run(leaky))
