"""Exposure: few rounded directions, what devices read of it, and which lists follow from it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit import Catalogue, Profile, Rated, compile_channel, fit, item_model, perturb, synthetic
from tacit.collection.plans import Sample
from tacit.errors import RequestError
from tacit.models import Fitted, exposure_of, fold_in, interactions
from tacit.models.exposure import DIRECTIONS, compressed, steps
from tacit.models.lists.ease import EASE
from tacit.models.lists.item_weights import ItemWeights
from tacit.wire.item_model import ItemModel

TRUE = synthetic(n_users=250, n_items=90, n_ratings=7_000)


def reports(plan="rated", ratings=TRUE, epsilon="3"):
    hidden = plan != "rated"
    channel = compile_channel(
        "randomized-response", epsilon=epsilon, scale=ratings.scale, missing=hidden
    )
    plans = {"rated": Rated, "catalogue": Catalogue, "sample": lambda one: Sample(one, 1)}
    return perturb(ratings, plans[plan](channel))


@pytest.fixture(scope="module", params=["rated", "catalogue"])
def fitted(request):
    return fit("mf", reports(request.param, epsilon="9"), factors=4)


def test_scores_are_the_projection_on_leading_singular_vectors_of_all_scores():
    """Against a dense decomposition. Entries are rounded by at most 1 / 127 relative to the root.

    Over 16 seeds the relative error is .007 to .015, and .045 to .069 without four directions.
    """
    ease = EASE(ridge=20.0).fit(interactions(TRUE))
    X, B = ease.presence.reported.toarray(), ease.weights.between.astype(np.float64)
    V = np.linalg.svd(X @ B)[2][:DIRECTIONS].T
    middle = V.T @ B @ V
    expected = X @ V @ (middle + middle.T) @ V.T / 2
    scores = compressed(ease).weights.scores(ease.presence.reported.astype(np.float32))
    assert np.linalg.norm(scores - expected) < 0.025 * np.linalg.norm(expected)
    unlike = X @ V[:, :-4] @ (middle + middle.T)[:-4, :-4] @ V[:, :-4].T / 2
    assert np.linalg.norm(scores - unlike) > 0.03 * np.linalg.norm(expected)


def test_rounded_entries_are_signed_squares_of_bytes():
    directions = exposure_of(TRUE).weights.directions
    v = steps(directions).astype(np.float32)
    assert np.array_equal(v * np.abs(v), directions.vectors)
    assert np.abs(v).max(0).tolist() == [127] * v.shape[1]


@pytest.mark.sampled(2)
def test_devices_read_the_same_scores(fitted):
    published = ItemModel.from_bytes(item_model(fitted).to_bytes())
    own = [3, 17, 40, 41]
    row = csr_array((np.ones(4, np.float32), ([0] * 4, own)), shape=(1, len(published.items)))
    expected = fitted.exposure.weights.scores(row)[0]
    scores = published.exposure.scores(own, len(published.items))
    assert scores == pytest.approx(expected.tolist(), abs=1e-5 * float(np.abs(expected).max()))


def test_a_device_recommends_what_its_simulation_does(fitted):
    mine = TRUE.where(TRUE.users == 7)
    ratings = dict(zip(mine.item_ids.take(mine.items).to_list(), mine.values.tolist(), strict=True))
    published = ItemModel.from_bytes(item_model(fitted).to_bytes())
    best = Profile(published, ratings).recommend(8)
    user = TRUE.user_ids.ids[7]
    assert [item for item, _ in best] == [
        item for item, _ in fold_in(fitted, TRUE).recommend(user, 8)
    ]
    assert [item for item, _ in Profile(published, ratings).recommend(8, "rating")] != [
        item for item, _ in best
    ]


def test_a_saved_model_recommends_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = Fitted.load(tmp_path / "model")
    users = TRUE.user_ids.ids[:20]
    assert again.recommend(users, 10).equals(fitted.recommend(users, 10))
    assert again.guarantee == fitted.guarantee
    slots, loaded = fitted.exposure.presence.reported, again.exposure.presence.reported
    for part in ("indptr", "indices", "data"):
        assert getattr(loaded, part).tobytes() == getattr(slots, part).tobytes()


DAMAGE = {
    "exposure_reported_items": lambda array: array + 90,
    "exposure_reported_start": lambda array: array[::-1].copy(),
    "exposure_rated": lambda array: np.zeros_like(array),
    "exposure_unrated": lambda array: np.full_like(array, 2),
    "exposure_device_spectrum": lambda array: array * np.float32(np.nan),
    "exposure_device_vectors": lambda array: array[:-1],
    "exposure_device_popularity": lambda array: array.astype(np.float64),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_arrays_are_refused(fitted, tmp_path, name):
    fitted.save(tmp_path / "model")
    with np.load(tmp_path / "model") as file:
        arrays = {key: file[key] for key in file.files}
    arrays[name] = DAMAGE[name](arrays[name])
    with (tmp_path / "model").open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(RequestError, match=name.removeprefix("exposure_").split("_")[0]):
        Fitted.load(tmp_path / "model")


def test_the_guarantee_names_public_statistics_of_co_ratings():
    rated, catalogue, true = (fit("mf", data) for data in (reports(), reports("catalogue"), TRUE))
    assert "rated together" in rated.guarantee.sentence
    assert "rated together" in item_model(rated).guarantee.sentence
    assert "rated together" not in catalogue.guarantee.sentence
    assert "rated together" not in true.guarantee.sentence
    without = fit("mf", reports(), exposure=False)
    assert without.exposure is None
    assert without.guarantee == reports().guarantee
    assert item_model(without).to_bytes().startswith(b"tacit-item-model-1\n")


@pytest.mark.parametrize("data", [synthetic(4, 60, 100), reports("sample")])
def test_exposure_is_popularity_without_pairs_or_held_out_users(data):
    learnt = exposure_of(data)
    assert learnt.model == "popularity"
    assert learnt.weights.directions is None


def test_large_catalogues_use_the_graph_filter(monkeypatch):
    monkeypatch.setattr("tacit.models.exposure.MOST_ITEMS", 50)
    learnt = exposure_of(TRUE)
    assert learnt.model == "graph-filter"
    assert learnt.weights.directions.vectors.shape == (90, DIRECTIONS)


def test_rated_items_are_left_out_where_presence_is_public():
    public = fit("mf", reports())
    table = public.recommend(TRUE.user_ids.ids, 90)
    shown = set(zip(table["user"], table["item"], strict=True))
    rated = set(zip(TRUE.user_ids.take(TRUE.users), TRUE.item_ids.take(TRUE.items), strict=True))
    assert not shown & rated
    assert len(shown) + len(rated) == TRUE.n_users * TRUE.n_items


def test_a_user_without_reports_gets_items_by_predicted_rating():
    public = fit("mf", reports())
    said = []
    best = public.recommend(10_000, 90, notify=said.append)
    assert best == public.recommend(10_000, 90, rank_by="rating", notify=said.append)


def test_equal_exposures_leave_the_order_to_ratings():
    public = fit("mf", reports())
    nothing = ItemWeights(popularity=np.zeros(90, np.float32))
    flat = replace(public, exposure=replace(public.exposure, weights=nothing))
    published = ItemModel.from_bytes(item_model(flat).to_bytes())
    mine = {1: 5, 2: 3}
    assert Profile(published, mine).recommend(9) == Profile(published, mine).recommend(9, "rating")
    user = TRUE.user_ids.ids[0]
    assert flat.recommend(user, 9) == flat.recommend(user, 9, rank_by="rating")


@pytest.mark.parametrize(
    ("rank_by", "message"),
    [("stars", "rank_by must be gain or rating, got 'stars'"), ("gain", "no exposure to rank by")],
)
def test_wrong_orders_are_refused(rank_by, message):
    bare = fit("mf", reports(), exposure=False)
    for ask in (
        lambda: bare.recommend(TRUE.user_ids.ids[0], rank_by=rank_by),
        lambda: Profile(item_model(bare), {1: 5}).recommend(3, rank_by),
    ):
        with pytest.raises(RequestError, match=message):
            ask()
