"""Lists by presence and stars together, beside sorting each person's gains."""

import numpy as np
import pytest

from tacit import Catalogue, compile_channel, fit, perturb, synthetic
from tacit.errors import RequestError
from tacit.kernels.layout import by_user
from tacit.models import fold_in
from tacit.models.lists.from_ratings import lists_by_gain


@pytest.fixture
def reports(ratings):
    channel = compile_channel("randomized-response", epsilon="4", scale=ratings.scale, missing=True)
    return perturb(ratings, Catalogue(channel))


@pytest.mark.parametrize("where", ["device", "provider"])
def test_a_list_is_of_the_most_of_score_times_share_of_the_scale(ratings, reports, where):
    presence, stars = fit("ease", reports), fit("mf", reports)
    own = ratings.where(np.arange(len(ratings)) % 2 == 0)
    lists = lists_by_gain(presence, stars, own, own.n_items, where=where)
    known = fold_in(stars, own) if where == "device" else stars
    seen = by_user(own.users, own.items, own.n_users, own.n_items)[0]
    scores = presence.scorer(seen, where)(slice(0, own.n_users))
    assert (scores < 0).any()
    for person in range(own.n_users):
        rated = own.items[own.users == person] if where == "device" else []  # else they are hidden
        left = np.setdiff1d(np.arange(own.n_items), rated)
        predicted = known.predict_codes(np.full(len(left), person), left)
        gain = np.array(
            [s * ((r - 1) / 4) if s > 0 else s
             for s, r in zip(scores[person, left], predicted, strict=True)], np.float32
        )  # fmt: skip
        order = np.lexsort((left, -gain))
        assert lists[person, : len(left)].tolist() == left[order].tolist()


def test_models_of_other_items_are_refused(ratings, reports):
    other = fit("mf", synthetic(90, 60, 2_000))
    with pytest.raises(RequestError, match="Fit both to the same reports"):
        lists_by_gain(fit("popularity", reports), other, ratings)
