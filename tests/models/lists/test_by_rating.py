"""Lists by predicted rating, beside sorting each person's predictions."""

import numpy as np
import pytest

from tacit import fit
from tacit.models import fold_in
from tacit.models.top_n import rating_model_lists


@pytest.mark.parametrize("where", ["device", "provider"])
def test_a_list_is_of_the_highest_predictions_of_what_is_not_rated(ratings, where):
    """People 0 to 9 have no rating of their own here, and so no list."""
    fitted = fit("mf", ratings)
    own = ratings.where((ratings.users >= 10) & (np.arange(len(ratings)) % 2 == 0))
    lists = rating_model_lists(fitted, own, 6, where=where, rank_by="rating")
    known = fold_in(fitted, own) if where == "device" else fitted
    assert (lists[:10] == -1).all()
    for person in range(10, ratings.n_users):
        left = np.setdiff1d(np.arange(ratings.n_items), own.items[own.users == person])
        predicted = known.predict_codes(np.full(len(left), person), left)
        order = np.lexsort((left, -predicted.astype(np.float32)))
        assert lists[person].tolist() == left[order[:6]].tolist()
