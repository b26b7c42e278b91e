"""Shrinkage to popularity: its statistics, and the choice by held-out error."""

import numpy as np
import pytest
from lists_world import renamed, world

from tacit import fit
from tacit.channels import compile_channel
from tacit.collection.perturb import perturb
from tacit.collection.plans import Catalogue, Sample
from tacit.models.lists import interactions
from tacit.models.lists.shrinkage import (
    DEVICE,
    PROVIDER,
    Blend,
    HeldOutSums,
    Thresholds,
    WeightFactors,
    chosen_blend,
    held_out_sums,
    is_certain,
    report_gains,
)
from tacit.scale import RatingScale

ONE = RatingScale.parse("there")
ITEMS, DRAWS = 20, 200
CHANCE = np.random.default_rng(2)
WEIGHTS = WeightFactors(CHANCE.standard_normal((ITEMS, 3)), CHANCE.standard_normal((ITEMS, 3)))
MEAN = np.linspace(0.1, 0.5, ITEMS)


def plans(epsilon):
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=ONE, missing=True)
    return {"catalogue": Catalogue(channel), "sample": Sample(channel, 6)}


def laid_out():
    """W, with a diagonal of 0."""
    dense = WEIGHTS.left @ WEIGHTS.right.T
    np.fill_diagonal(dense, 0)
    return dense


def statistics(x, rows):
    """Sums of (x m', x W x', |m|^2, x W m', |x W|^2), scores computed from `rows`."""
    scores = rows @ laid_out()
    pairs = (scores * x).sum()
    return [(x @ MEAN).sum(), pairs, len(x) * MEAN @ MEAN, (scores @ MEAN).sum(), (scores**2).sum()]


def sums(reports, noisy_rows):
    presence = interactions(reports).presence
    return held_out_sums(presence, MEAN, WEIGHTS, noisy_rows=noisy_rows)


def test_without_noise_the_statistics_are_those_of_the_rows(own, table):
    assert sums(own, False).total == pytest.approx(statistics(table, table))
    assert sums(own, True).total == pytest.approx(statistics(table, table))
    each = np.array([statistics(row, row) for row in table[:, None]])
    assert sums(own, False).products == pytest.approx(each.T @ each)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_statistics_from_reports_are_unbiased(table, plan):
    """The mean of 200 draws within 5 standard errors; with C^2 for C on the diagonal, or without
    the correction for sampling, |x W|^2 is 20 away."""
    others = renamed(world(table), DRAWS)
    totals = np.array([sums(perturb(own, plans("1")[plan]), False).total for own in others])
    error = totals.std(0, ddof=1) / np.sqrt(DRAWS)
    assert (abs(totals.mean(0) - statistics(table, table)) <= 5 * error + 1e-6).all()


@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_the_provider_s_scores_are_of_its_noisy_rows(own, table, plan):
    """|C W|^2 is that of the debiased reports, exactly; the others are unbiased as well."""
    reports = perturb(own, plans("1")[plan])
    presence = interactions(reports).presence
    C = presence.over_items(np.eye(ITEMS))
    assert presence.dense(slice(None)) == pytest.approx(C, abs=1e-4)
    found = held_out_sums(presence, MEAN, WEIGHTS, noisy_rows=True).total
    assert found[4] == pytest.approx(((C @ laid_out()) ** 2).sum())
    assert found[3] == pytest.approx((C @ laid_out() @ MEAN).sum())


def test_the_gain_and_its_error_are_those_of_the_users(own, table):
    blend, base = Blend(0.4, 0.03), Blend(0.9, 0.0)
    scores = [b.popularity * MEAN + b.weights * table @ laid_out() for b in (blend, base)]
    errors = [((table - s) ** 2).sum(1) for s in scores]
    each = errors[1] - errors[0]
    gain, error = sums(own, False).gain(blend, base)
    assert gain == pytest.approx(each.sum())
    assert error == pytest.approx(each.std() * np.sqrt(len(each)))


def test_the_best_blend_is_that_of_least_squares(own, table):
    found = sums(own, False)
    columns = np.stack([np.tile(MEAN, len(table)), (table @ laid_out()).ravel()], 1)
    expected = np.linalg.lstsq(columns, table.ravel(), rcond=None)[0]
    best = chosen_blend(found, Thresholds(-np.inf, np.inf))
    if expected[1] > 0:
        assert best == pytest.approx(expected)
    else:
        assert best.weights == 0


def test_weights_are_used_only_where_the_gain_is_certain():
    """A gain of 3 deviations is enough for a device's blend, and not for the provider's."""
    z = np.array([1.0, 1.0, 1.0, 0.0, 2.0])  # gains: popularity 1, the blend .5 more

    def of(deviations):
        """Users whose gains spread so that their sum has this many deviations."""
        users = 100
        part = np.array([0, 1.0, 0, 0, 0]) * 0.5 * np.sqrt(users) / deviations
        signs = np.where(np.arange(users) % 2, 1.0, -1.0)
        each = z + signs[:, None] * part
        return HeldOutSums(users, each.sum(0), each.T @ each)

    assert of(3.0).gain(Blend(1, 0.5), Blend(1, 0)) == pytest.approx((50, 50 / 3))
    assert chosen_blend(of(3.0), DEVICE) == pytest.approx((1, 0.5))
    assert chosen_blend(of(1.9), DEVICE) == pytest.approx((1, 0))
    assert chosen_blend(of(4.9), PROVIDER) == pytest.approx((1, 0))
    assert chosen_blend(of(5.1), PROVIDER) == pytest.approx((1, 0.5))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["ease", "graph-filter"])
def test_users_without_common_tastes_get_what_is_popular(name):
    """Independent items: popularity is the best list. Of 150 fits each, 1 of EASE and none of the
    graph filter added weights; of 10, at least 7 are popularity."""
    chance = np.random.default_rng(0)
    own = world(chance.random((600, 40)) < np.geomspace(0.5, 0.05, 40))
    popular = 0
    for each in renamed(own, 10):
        fitted = fit(name, perturb(each, plans("1")["catalogue"]))
        weights = fitted.weights
        popular += weights.between is None and weights.directions is None
    assert popular >= 7


def test_the_provider_s_scores_are_corrected_for_a_slot_s_own_report(own):
    """By Bayes' rule, cell by cell, for slots reported, not reported and not queried."""
    presence = interactions(perturb(own, plans("1")["sample"])).presence
    scores = np.random.default_rng(0).uniform(-0.2, 1.2, presence.shape).astype(np.float32)
    found = presence.unowned(scores, slice(None))
    reported, asked = presence.reported.toarray(), presence.asked.toarray()
    for u, i in np.ndindex(4, ITEMS):
        p, q, s = presence.rated[u], presence.unrated[u], np.clip(scores[u, i], 0, 1)
        ratio = p / q if reported[u, i] else (1 - p) / (1 - q) if asked[u, i] else 1.0
        assert found[u, i] == pytest.approx(scores[u, i] / (s * ratio + 1 - s), rel=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["catalogue", "sample"])
def test_gains_of_scored_reports_are_unbiased(table, plan):
    """Scores c W + o of noisy rows, beside those of the true rows that nobody has."""
    offset, weights = MEAN * 0.7, WeightFactors(0.05 * WEIGHTS.left, WEIGHTS.right)
    of_popularity = ((table - MEAN) ** 2).sum()
    wrong = []
    for own in renamed(world(table), DRAWS):
        presence = interactions(perturb(own, plans("1")[plan])).presence
        C = presence.over_items(np.eye(ITEMS))
        of_scores = ((table - offset - C @ (0.05 * laid_out())) ** 2).sum()
        gains = report_gains(presence, MEAN, offset, weights)
        wrong.append(gains.sum() - (of_popularity - of_scores))
    assert abs(np.mean(wrong)) <= 5 * np.std(wrong, ddof=1) / np.sqrt(DRAWS)


def test_the_provider_requires_a_gain_of_five_standard_errors():
    each = np.where(np.arange(100) % 2, 1.0, -1.0)  # of deviation 1, so the error of 100 is 10
    assert is_certain([each[:50] + 0.51, each[50:] + 0.51], 0.0)
    assert not is_certain([each + 0.49], 0.0)
    assert not is_certain([], 0.0)


def test_the_provider_requires_a_larger_gain_than_that_of_the_blend():
    gains = [np.ones(100)]
    assert is_certain(gains, 99.9)
    assert not is_certain(gains, 100.0)
