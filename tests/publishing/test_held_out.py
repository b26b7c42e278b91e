"""The gain on held-out reports estimates the gain on the true ratings, with its error."""

from dataclasses import replace

import numpy as np
import pytest
from repeatable_words import RepeatableWordsForTestsOnly

from tacit.collection.named_plans import plan_of
from tacit.collection.perturb import perturb
from tacit.collection.public_hash import hashes
from tacit.learners import fit
from tacit.models.evidence.evidence import reported
from tacit.publishing import held_out
from tacit.publishing.held_out import held_out_gain, is_held_out, ranks, with_unrated_slots
from tacit.readers.synthetic import synthetic
from tacit.scale import THERE, RatingScale

USERS, ITEMS, DRAWS = 300, 120, 40
STARS = synthetic(USERS, ITEMS, 9_000, rng=4)
IMPLICIT = replace(STARS, levels=np.zeros_like(STARS.levels), scale=RatingScale.parse(THERE))


def reports(ratings, plan, epsilon, rng):
    made = plan_of(plan, "randomized-response", epsilon, ratings.scale)
    return perturb(ratings, made, words=RepeatableWordsForTestsOnly(rng))


def truth(ratings):
    """The ratings, NaN for none, and which slots are held out; both (users, items)."""
    table = np.full((USERS, ITEMS), np.nan)
    table[ratings.users, ratings.items] = np.asarray(ratings.scale.values)[ratings.levels]
    every = with_unrated_slots(reports(ratings, "catalogue", "1", 0))
    return table, is_held_out(every).reshape(USERS, ITEMS)


def error_reduction(ratings, plan, model, popular):
    table, held = truth(ratings)
    if plan.startswith("sample"):
        sent, queried = reports(ratings, plan, "1", 0), np.zeros_like(held)
        queried[sent.users, sent.items] = True
        held = held & queried
    users, items = np.nonzero(held & ~np.isnan(table))
    p, b = (each.predict_codes(users, items) for each in (model, popular))
    r = table[users, items]
    return float(np.mean((r - b) ** 2 - (r - p) ** 2))


def rank_gain(ratings, model, popular):
    """Loops over users: the naive twin of ranks and sums."""
    table, held = truth(ratings)
    gained = count = 0.0
    for user in range(USERS):
        rated = ~np.isnan(table[user])
        candidates = np.flatnonzero(held[user] | ~rated)
        for each, sign in ((model, 1), (popular, -1)):
            scores = each.scorer(None, "provider")(np.array([user]))[0]
            ranked = sorted(candidates.tolist(), key=lambda item: (-scores[item], item))
            for rank, item in enumerate(ranked, 1):
                if rated[item] and held[user, item]:
                    gained += sign / np.log2(1 + rank)
                    count += sign > 0
    return gained / count


def estimates(ratings, plan, epsilon, model, popular):
    gains = [
        held_out_gain(reports(ratings, plan, epsilon, rng), lambda _: model, lambda _: popular)
        for rng in range(DRAWS)
    ]
    return np.array([each.value for each in gains]), np.array([each.error for each in gains])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("plan", "epsilon"), [("rated", "1"), ("sample:60", "4"), ("catalogue", "3")]
)
def test_the_gain_of_a_rating_model_is_unbiased(plan, epsilon):
    model, popular = fit("mf", STARS, exposure=False), fit("global-mean", STARS, exposure=False)
    want = error_reduction(STARS, plan, model, popular)
    values, errors = estimates(STARS, plan, epsilon, model, popular)
    spread = values.std(ddof=1)
    assert abs(values.mean() - want) < 4 * spread / DRAWS**0.5
    assert 0.6 * spread < errors.mean() < 3 * spread


def test_the_gain_of_a_list_model_is_that_of_the_ranks():
    """Presence is public under the plan, so nothing is random."""
    model, popular = fit("ease", STARS), fit("popularity", STARS)
    want = rank_gain(STARS, model, popular)
    values, errors = estimates(STARS, "rated", "1", model, popular)
    assert np.allclose(values, want, atol=1e-12)
    assert (errors > 0).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["sample:60", "catalogue"])
def test_these_tests_reject_noise_that_counts_as_ratings(plan, monkeypatch):
    model, popular = fit("mf", STARS, exposure=False), fit("global-mean", STARS, exposure=False)
    want = error_reduction(STARS, plan, model, popular)
    monkeypatch.setattr(held_out, "debiased_presence", lambda held: reported(held).astype(float))
    values, _ = estimates(STARS, plan, "2", model, popular)
    assert abs(values.mean() - want) > 8 * values.std(ddof=1) / DRAWS**0.5


def test_rows_of_the_plan_catalogue_are_those_that_devices_sent():
    sent = reports(STARS, "catalogue", "2", 5)
    every = with_unrated_slots(sent)
    assert np.array_equal(every.users * ITEMS + every.items, np.arange(USERS * ITEMS))
    shown = every.where(every.symbols != every.channels[0].outputs.index(None))
    for column in ("users", "items", "symbols", "channel_of"):
        assert np.array_equal(getattr(shown, column), getattr(sent, column))


def test_more_users_than_fit_are_those_of_the_smallest_hashes(monkeypatch):
    sent = reports(IMPLICIT, "catalogue", "1", 5)
    monkeypatch.setattr(held_out, "MOST_SLOTS", 40 * ITEMS)
    some = with_unrated_slots(sent)
    users = np.unique(some.users)
    limit = np.sort(hashes(sent.user_ids))[39]
    assert np.array_equal(users, np.flatnonzero(hashes(sent.user_ids) <= limit))
    shown = some.where(some.symbols != some.channels[0].outputs.index(None))
    assert np.array_equal(shown.symbols, sent.symbols[np.isin(sent.users, users)])


def test_ranks_do_not_depend_on_the_size_of_blocks(monkeypatch):
    some = reports(STARS, "rated", "1", 5)
    test, model = is_held_out(some), fit("popularity", STARS)
    at_once = ranks(some.where(~test), some.where(test), model)
    monkeypatch.setattr(held_out, "BLOCK", 7 * ITEMS)
    assert np.array_equal(at_once, ranks(some.where(~test), some.where(test), model))


def test_held_out_slots_do_not_depend_on_other_users():
    """Otherwise the figures of two weeks would be of different slots."""
    sent = reports(STARS, "rated", "1", 5)
    some = sent.where(sent.users % 3 == 0)
    assert np.array_equal(is_held_out(some), is_held_out(sent)[sent.users % 3 == 0])
    assert abs(is_held_out(sent).mean() - 0.1) < 4 * (0.09 / len(sent)) ** 0.5


def test_few_users_and_silent_reports_have_no_gain():
    sent = reports(STARS, "rated", "1", 5)
    baseline = fit("item-mean", STARS, exposure=False)
    few = sent.where(sent.users < held_out.FEWEST_USERS - 1)
    assert held_out_gain(few, lambda _: baseline, lambda _: baseline) is None
    slots = reports(IMPLICIT, "sample:60", "1", 5)
    silent = slots.where(slots.symbols == slots.channels[0].outputs.index(None))
    assert held_out_gain(silent, lambda _: baseline, lambda _: baseline) is None
