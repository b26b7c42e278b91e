"""The device's own solve against its bulk twin, and what it does at the edges."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.device.profile import Profile
from tacit.errors import DataError, RequestError
from tacit.models import evidence, item_model, model
from tacit.models.simulated_devices import fold_in, own_rows
from tacit.ratings import Ratings
from tacit.readers.synthetic import synthetic
from tacit.wire.item_model import ItemModel


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthetic(n_users=60, n_items=80, n_ratings=1500, rng=1)


def own_ratings(ratings: Ratings, code: int) -> dict[int | str, float]:
    mine = ratings.users == code
    ids = ratings.item_ids.take(ratings.items[mine]).to_list()
    return dict(zip(ids, ratings.values[mine].tolist(), strict=True))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name",
    ["item-mean", "bias", "mf-plain", "mf", "completion", "svdpp", "als-svdpp", "channel-mf"],
)
def test_the_bulk_solve_and_the_device_agree(name: str, ratings: Ratings) -> None:
    fitted = model(name).fit(evidence(ratings))
    published = ItemModel.from_bytes(item_model(fitted).to_bytes())
    bulk = list(own_rows(fitted, ratings))
    predicted = fold_in(fitted, ratings)
    for code in (0, 17, 59):
        profile = Profile(published, own_ratings(ratings, code))
        assert np.allclose(profile.rows, [rows[code] for rows in bulk], rtol=0, atol=1e-9)
        item = published.items[7]
        pair = np.array([code], np.int32), np.array([7], np.int32)
        assert profile.predict(item) == pytest.approx(
            float(predicted.predict_codes(*pair)[0]), abs=1e-5
        )


def test_published_bytes_survive_the_trip_and_refuse_a_cut(ratings: Ratings) -> None:
    whole = item_model(
        model("channel-mf", draws=4, burn_in=2, every=1).fit(evidence(ratings))
    ).to_bytes()
    assert ItemModel.from_bytes(whole).to_bytes() == whole
    for left in (len(whole) - 8, len(whole) - 1, 200, 20):
        with pytest.raises(DataError, match="truncated"):
            ItemModel.from_bytes(whole[:left])
    for old, new, why in (
        (b'"link": "cells"', b'"link": "other"', "its link is unknown"),
        (b'"mu": [', b'"mu": [], "x": [', "unknown or missing keys: x"),
    ):
        header = len(whole[:23]) + int.from_bytes(whole[19:23], "little")
        forged = whole[23:header].replace(old, new)
        assert forged != whole[23:header]
        with pytest.raises(DataError, match=why):
            ItemModel.from_bytes(
                whole[:19] + len(forged).to_bytes(4, "little") + forged + whole[header:]
            )
    with pytest.raises(DataError, match="not a valid item model"):
        ItemModel.from_bytes(b"{}")


def test_recommendations_leave_out_what_was_rated(ratings: Ratings) -> None:
    published = item_model(model("bias").fit(evidence(ratings)))
    mine = own_ratings(ratings, 3)
    best = Profile(published, mine).recommend(5)
    assert len(best) == 5
    assert not {item for item, _ in best} & set(mine)
    assert [score for _, score in best] == sorted((s for _, s in best), reverse=True)


def test_a_stranger_without_ratings_gets_the_items_own_means(ratings: Ratings) -> None:
    fitted = model("item-mean").fit(evidence(ratings))
    item = fitted.item_ids.ids[0]
    alone = Profile(item_model(fitted), {}).predict(item)
    assert alone == pytest.approx(float(fitted.predict([-5], [item])[0]))


@pytest.mark.parametrize(
    ("mu", "sigma", "link", "rated"),
    [(1e308, 1.0, "linear", 2), (3.0, 1e-200, "cells", 1), (1e308, 1.0, "linear", 0)],
    ids=["a row that is infinite", "a division by zero", "a prediction that is infinite"],
)
def test_numbers_that_come_to_none_predict_nothing(
    mu: float, sigma: float, link: str, rated: int, ratings: Ratings
) -> None:
    published = item_model(model("bias").fit(evidence(ratings)))
    draws = (replace(published.draws[0], mu=mu),) * 2
    forged = replace(published, draws=draws, sigma=sigma, link=link)
    mine: dict[int | str, float] = dict.fromkeys(published.items[:rated], 4.0)
    with pytest.raises(DataError, match="overflow and cannot predict ratings"):
        Profile(forged, mine).predict(published.items[-1])


def test_a_rating_off_the_scale_is_refused(ratings: Ratings) -> None:
    published = item_model(model("bias").fit(evidence(ratings)))
    with pytest.raises(RequestError, match=r"^A rating is not on the model's scale 1:5:1\.$"):
        Profile(published, {published.items[0]: 9.5})
