"""The gain of lists where presence is protected estimates that of true items, with its error."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from repeatable_words import RepeatableWordsForTestsOnly

from tacit.collection.named_plans import plan_of
from tacit.collection.perturb import perturb
from tacit.learners import fit
from tacit.models.lists import shrinkage
from tacit.publishing import presence_gain
from tacit.publishing.held_out import held_out_gain
from tacit.publishing.presence_gain import is_held_out_user, of_users
from tacit.readers.synthetic import synthetic
from tacit.scale import THERE, RatingScale
from tacit.vocabulary import Vocabulary

USERS, ITEMS, DRAWS = 800, 90, 80
STARS = synthetic(USERS, ITEMS, 20_000, rng=4, fewest=8)
CLICKS = replace(STARS, levels=np.zeros_like(STARS.levels), scale=RatingScale.parse(THERE))


def reports(plan, epsilon, rng):
    """Reports of users with other ids in each draw, who are held out and queried anew."""
    ids = Vocabulary(pl.Series("id", range(rng * USERS, (rng + 1) * USERS)))
    made = plan_of(plan, "randomized-response", epsilon, CLICKS.scale)
    return perturb(replace(CLICKS, user_ids=ids), made, words=RepeatableWordsForTestsOnly(rng))


@pytest.fixture(scope="module")
def models():
    """A model with weights between items, and popularity, of other reports."""
    known = reports("catalogue", "5", 999)
    model = fit("ease", known)
    assert model.weights.directions is not None
    return model, fit("popularity", known)


def true_gain(sent, model, popular):
    """By definition, from the true items of the users that are held out."""
    rows = np.zeros((USERS, ITEMS))
    rows[CLICKS.users, CLICKS.items] = 1
    x = rows[is_held_out_user(sent)]
    explained = []
    for each in (model, popular):
        s = np.tile(each.weights.popularity.astype(float), (len(x), 1))
        if each.weights.directions is not None:
            weights = each.weights.rows(range(ITEMS)).astype(float)
            np.fill_diagonal(weights, 0)
            s += x @ weights
        explained.append(np.vdot(x, s) ** 2 / np.vdot(s, s))
    return (explained[0] - explained[1]) / x.sum()


def deviations(plan, epsilon, models):
    """Errors of the estimate over draws, and the standard errors that it states."""
    wrong, stated = [], []
    for rng in range(DRAWS):
        sent = reports(plan, epsilon, rng)
        gain = held_out_gain(sent, lambda _: models[0], lambda _: models[1])
        assert gain.unit == "explained presence"
        wrong.append(gain.value - true_gain(sent, *models))
        stated.append(gain.error)
    return np.array(wrong), np.array(stated)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("plan", "epsilon"), [("catalogue", "3"), ("sample:60", "4")])
def test_the_gain_is_that_of_true_items(plan, epsilon, models):
    wrong, stated = deviations(plan, epsilon, models)
    spread = wrong.std(ddof=1)
    assert abs(wrong.mean()) < 4.5 * spread / DRAWS**0.5
    # What is stated includes the spread over users, who are those of the truth here.
    assert 0.8 * spread < stated.mean() < 4 * spread


def test_scores_from_noisy_rows_are_rejected(models, monkeypatch):
    """A planted fault: the noise of rows counted in the scores, as at the provider."""

    def noisy(presence, popularity, weights, *, noisy_rows):
        return shrinkage.user_statistics(presence, popularity, weights, noisy_rows=True)

    monkeypatch.setattr(presence_gain, "user_statistics", noisy)
    wrong, _ = deviations("catalogue", "2", models)
    assert abs(wrong.mean()) > 8 * wrong.std(ddof=1) / DRAWS**0.5


def test_models_are_fitted_to_the_other_users():
    sent, seen = reports("catalogue", "3", 1), []

    def fitted(part):
        seen.append(part)
        return fit("popularity", part)

    assert held_out_gain(sent, fitted, lambda part: fit("popularity", part)).value == 0
    held = is_held_out_user(sent)
    assert set(seen[0].user_ids.ids) == set(sent.user_ids.ids.filter(~held))
    assert 40 < held.sum() < 120
    some = of_users(sent, held)
    assert len(some) + len(seen[0]) == len(sent)
    pairs = {
        (sent.user_ids.ids[int(u)], int(i)) for u, i in zip(sent.users, sent.items, strict=True)
    }
    assert {(some.user_ids.ids[int(u)], int(i))
            for u, i in zip(some.users, some.items, strict=True)} <= pairs  # fmt: skip


def test_few_held_out_users_have_no_gain():
    sent = reports("catalogue", "3", 1)
    few = of_users(sent, np.arange(USERS) < 100)
    assert held_out_gain(few, lambda part: fit("popularity", part), fit_popularity) is None


def fit_popularity(part):
    return fit("popularity", part)
