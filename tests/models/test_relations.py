"""Similar items, explanations and candidates, of rating models and of lists."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit import RequestError, fit, load, synthetic
from tacit.models import fold_in
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
from tacit.ratings import Ratings

STARS = synthetic(80, 60, 2000, rng=2)
CLICKS = synthetic(80, 60, 2000, scale="there", rng=2)


@pytest.fixture(scope="module")
def rating_model() -> Fitted:
    return fit("mf", STARS, exposure=False, factors=3)


@pytest.fixture(scope="module", params=["ease", "graph-filter"])
def list_model(request) -> FittedLists:
    return fit(request.param, CLICKS)


def test_similarity_of_ratings_is_their_correlation_over_drawn_users(rating_model):
    """A naive twin: users drawn from the prior, without their bias."""
    y = rating_model.items[0, :, 1:].astype(float)
    x = np.random.default_rng(0).normal(size=(200_000, y.shape[1]))
    theta = (x / np.sqrt(rating_model.precision[0, 1:])) @ y.T
    expected = np.corrcoef(theta.T)[4]
    ids = rating_model.item_ids.ids.to_list()
    for item, similarity in rating_model.similar_items(ids[4], 59):
        assert similarity == pytest.approx(expected[ids.index(item)], abs=0.02)  # 5 errors: .011


def test_the_most_similar_items_come_first_without_the_item_itself(rating_model, list_model):
    for fitted in (rating_model, list_model):
        found = fitted.similar_items(7, 59)
        assert len(found) == len({item for item, _ in found} - {7}) == 59
        values = [value for _, value in found]
        assert values == sorted(values, reverse=True)
        assert fitted.similar_items(7, 5) == found[:5]


def test_weights_are_what_one_item_adds_to_scores(list_model):
    ids = list_model.item_ids.ids.to_list()
    alone = dict(list_model.recommend_to([7], 59))
    popularity = list_model.weights.popularity
    for item, weight in list_model.similar_items(7, 59):
        assert weight == pytest.approx(alone[item] - popularity[ids.index(item)], abs=1e-5)


def test_parts_of_an_explanation_add_up_to_the_prediction(rating_model):
    """A fold-in of the linear link is linear in the ratings: predictions less the item's level."""
    some = STARS.where(STARS.users < 5)
    folded = fold_in(rating_model, some)
    for user in range(5):
        mine = some.users == user
        ratings = dict(
            zip(some.item_ids.take(some.items[mine]), some.values[mine].tolist(), strict=True)
        )
        for item in (1, 17, 40):
            parts = rating_model.explain(item, ratings, n=len(ratings))
            assert {name for name, _ in parts} == set(ratings)
            raw = some.user_ids.ids[user]
            level = rating_model.mu[0] + rating_model.items[0, rating_model.item_ids.code(item), 0]
            expected = level + sum(part for _, part in parts)
            if 1.01 < expected < 4.99:  # predictions are clipped to the scale
                assert folded.predict([raw], [item])[0] == pytest.approx(expected, abs=1e-3)


def test_parts_of_a_list_score_add_up_to_it(list_model):
    own = [2, 5, 9]
    score = dict(list_model.recommend_to(own, 57))[7]
    parts = list_model.explain(7, [*own, "unknown"][:3], n=3)
    popularity = list_model.weights.popularity[list_model.item_ids.code(7)]
    assert sum(part for _, part in parts) + popularity == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("kind", [list, pd.Series, pl.Series])
def test_only_candidates_are_recommended_and_in_the_order_without_them(
    rating_model, list_model, kind
):
    for fitted in (rating_model, list_model):
        everything = [item for item, _ in fitted.recommend(3, 60)]
        some = everything[1::3]
        found = [item for item, _ in fitted.recommend(3, 60, candidates=kind(some))]
        assert found == some
        fewer = fitted.recommend(3, 60, candidates=some, exclude=some[:2])
        assert [item for item, _ in fewer] == some[2:]


def test_lists_leave_out_what_users_are_known_to_have(list_model):
    mine = set(CLICKS.item_ids.take(CLICKS.items[CLICKS.users == 3]).to_list())
    user = CLICKS.user_ids.ids[3]
    assert not mine & {item for item, _ in list_model.recommend(user, 60)}


def test_unknown_items_and_models_without_relations_are_refused(rating_model, list_model):
    for fitted, own in ((rating_model, {2: 5}), (list_model, [2])):
        for item in (99, "x", None, [1]):
            with pytest.raises(RequestError, match="item must be the id of an item of the model"):
                fitted.similar_items(item)
            with pytest.raises(RequestError, match="item must be the id of an item of the model"):
                fitted.explain(item, own)
        with pytest.raises(RequestError, match="candidates must contain at least one item"):
            fitted.recommend(3, candidates=[99])
        with pytest.raises(RequestError, match="must contain at least one item of the model"):
            fitted.explain(1, type(own)())
        with pytest.raises(RequestError, match="n must be an integer"):
            fitted.similar_items(1, 0)
    with pytest.raises(RequestError, match="no item factors"):
        fit("bias", STARS, exposure=False).similar_items(1)
    for name in ("similar_items", "explain"):
        with pytest.raises(RequestError, match="ranks by popularity alone"):
            getattr(fit("popularity", CLICKS), name)(1, *([[2]] if name == "explain" else []))


def _noisy(ratings: Ratings):
    from tacit import Catalogue, compile_channel, perturb

    channel = compile_channel("randomized-response", epsilon="3", scale=ratings.scale, missing=True)
    return perturb(ratings, Catalogue(channel))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", ["ease", "graph-filter", "popularity"])
@pytest.mark.parametrize("noisy", [False, True])
def test_a_saved_list_model_knows_its_users(model, noisy, tmp_path):
    fitted = fit(model, _noisy(CLICKS) if noisy else CLICKS)
    fitted.save(tmp_path / "lists")
    restored = load(tmp_path / "lists")
    assert isinstance(restored, FittedLists)
    assert restored.guarantee == fitted.guarantee
    users = CLICKS.user_ids.ids
    assert restored.recommend(users, 20).equals(fitted.recommend(users, 20))
    assert np.array_equal(restored.lists(CLICKS), fitted.lists(CLICKS))
    assert FittedLists.load(tmp_path / "lists").model == model
    with pytest.raises(RequestError, match="not tacit-model-1; read it with"):
        Fitted.load(tmp_path / "lists")


def test_a_list_model_file_of_other_values_is_refused(tmp_path):
    fitted = fit("ease", CLICKS)
    path = tmp_path / "lists"
    wrong = replace(fitted.weights, popularity=fitted.weights.popularity[:-1])
    replace(fitted, weights=wrong).save(path)
    with pytest.raises(RequestError, match="device_popularity must be float32 of shape"):
        load(path)
    nan = np.full_like(np.asarray(fitted.weights.popularity), np.nan)
    replace(fitted, weights=replace(fitted.weights, popularity=nan)).save(path)
    with pytest.raises(RequestError, match="device_popularity must be finite"):
        load(path)
