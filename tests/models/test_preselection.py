"""Preselected lists of models with several draws: those of all pairs, at a fraction of the cost."""

from dataclasses import replace

import numpy as np
import pytest

from tacit import Rated, compile_channel, perturb, synthetic
from tacit.models import exposure_of
from tacit.models.best_items import MeanForm, candidates_for
from tacit.models.channel_mf.model import ChannelMF
from tacit.models.evidence.evidence import evidence
from tacit.models.evidence.presence_matrix import cells
from tacit.models.lists.exclusion import with_reported
from tacit.models.ranking import expected_gain, same_for_all

TRUE = synthetic(n_users=250, n_items=400, n_ratings=12_000)


@pytest.fixture(scope="module")
def fitted():
    channel = compile_channel("optimal", epsilon="2", scale=TRUE.scale)
    model = ChannelMF(burn_in=20, draws=6, every=2)
    return model.fit(evidence(perturb(TRUE, Rated(channel))))


def every_prediction(fitted, users):
    items = np.arange(len(fitted.item_ids), dtype=np.int32)
    pairs = np.repeat(users, len(items)), np.tile(items, len(users))
    return fitted.predict_codes(*pairs).reshape(len(users), -1)


def test_the_mean_form_is_mean_theta_where_distilled_factors_span_the_draws():
    """Up to a constant per user; unknown users have the item biases alone."""
    chance = np.random.default_rng(0)
    D, users, items, K = 4, 6, 300, 3
    people = chance.standard_normal((D, users, 1 + K)).astype(np.float32)
    things = chance.standard_normal((D, items, 1 + K)).astype(np.float32)
    z = things[:, :, 1:].transpose(1, 0, 2).reshape(items, D * K)
    form = MeanForm.of(things, z @ chance.standard_normal((D * K, D * K)))
    asked = np.array([2, -1, 5], np.int32)
    bias = things[:, :, 0].mean(0)
    theta = bias + np.einsum("duk,dik->ui", people[:, :, 1:], things[:, :, 1:]) / D
    theta = np.stack([theta[2], bias, theta[5]])
    excluded = np.argsort(-theta[0])[:3]
    item_ids = synthetic(n_users=2, n_items=items, n_ratings=items).item_ids
    rows = same_for_all(item_ids, item_ids.take(excluded), 3)
    found = form.candidates(form.rows(people, asked), rows, 2)
    theta[:, excluded] = -np.inf
    expected = np.sort(np.argsort(-theta, axis=1)[:, : candidates_for(2)], axis=1)
    assert (found == expected).mean() > 0.99  # theta is rounded to single precision


def test_lists_are_those_of_all_pairs(fitted):
    """All items of 250 lists of ten, ratings to the digit."""
    users = np.arange(-1, 249, dtype=np.int32)
    codes, ratings = fitted.best_items(users, same_for_all(fitted.item_ids, None, 250), 10)
    exact = every_prediction(fitted, users)
    assert np.take_along_axis(exact, codes, 1).tolist() == ratings.tolist()
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :10]
    assert (codes == expected).mean() > 0.99


def test_lists_by_gain_are_those_of_all_pairs(fitted):
    exposed = replace(fitted, exposure=exposure_of(TRUE))
    users = np.arange(-1, 249, dtype=np.int32)
    excluded = with_reported(
        same_for_all(fitted.item_ids, None, 250), users, exposed.exposure.presence
    )
    codes, ratings = exposed.best_items(users, excluded, 10)
    exact = every_prediction(fitted, users)
    assert np.take_along_axis(exact, codes, 1).tolist() == ratings.tolist()
    gains = expected_gain(exposed.exposure.exposures(users), exact, fitted.levels)
    gains[cells(excluded, 400).toarray() > 0] = -np.inf
    expected = np.argsort(-gains, axis=1, kind="stable")[:, :10]
    assert (codes == expected).mean() > 0.99
    by_rating = np.argsort(-exact, axis=1, kind="stable")[:, :10]
    assert (codes == by_rating).mean() < 0.5


def test_excluded_items_are_left_out_of_preselected_lists(fitted):
    best = [item for item, _ in fitted.recommend(1, 5)]
    found = fitted.recommend([1, 2], 300, exclude=best)
    assert not set(found["item"]) & set(best)
    assert (found.group_by("user").len()["len"] == 300).all()
    whole = fitted.recommend([1], 400, exclude=best)
    assert len(whole) == 395


def test_a_model_of_one_draw_ranks_all_pairs(fitted):
    one = replace(fitted, condensed=None)
    assert one._ranker.form is None
    users = np.arange(5, dtype=np.int32)
    codes, _ = one.best_items(users, same_for_all(one.item_ids, None, 5), 10)
    expected = np.argsort(-every_prediction(one, users), axis=1, kind="stable")[:, :10]
    assert codes.tolist() == expected.tolist()
