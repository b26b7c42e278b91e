"""Lists by expected gain, compared with a sort of each user's gains."""

import numpy as np
import pytest

from tacit import Catalogue, Rated, compile_channel, fit, perturb
from tacit.kernels.layout import by_user
from tacit.models import fold_in
from tacit.models.top_n import rating_model_lists


@pytest.fixture(params=["rated", "catalogue"])
def reports(request, ratings):
    hidden = request.param == "catalogue"
    channel = compile_channel(
        "randomized-response", epsilon="4", scale=ratings.scale, missing=hidden
    )
    return perturb(ratings, Catalogue(channel) if hidden else Rated(channel))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("where", ["device", "provider"])
def test_lists_are_sorted_by_exposure_times_position_on_the_scale(ratings, reports, where):
    fitted = fit("mf", reports)
    own = ratings.where(np.arange(len(ratings)) % 2 == 0)
    lists = rating_model_lists(fitted, own, own.n_items, where=where)
    known = fold_in(fitted, own) if where == "device" else fitted
    seen = by_user(own.users, own.items, own.n_users, own.n_items)[0]
    scores = fitted.exposure.scorer(seen, where)(slice(0, own.n_users))
    hidden = where == "provider" and fitted.exposure.presence.protected
    for person in range(own.n_users):
        rated = [] if hidden else own.items[own.users == person]
        left = np.setdiff1d(np.arange(own.n_items), rated)
        predicted = known.predict_codes(np.full(len(left), person), left)
        gain = np.array(
            [s * np.float32(r - 1) / 4 if s > 0 else s
             for s, r in zip(scores[person, left], predicted, strict=True)], np.float32
        )  # fmt: skip
        order = np.lexsort((left, -gain))
        assert lists[person, : len(left)].tolist() == left[order].tolist()
