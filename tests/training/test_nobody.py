"""A training whose unit is a user tells nothing by stopping: it trains on no ratings, too."""

import numpy as np
import pytest

from tacit.readers import synthetic
from tacit.training import LIST_TRAININGS, PER_PERSON, train

WORLD = synthetic(n_users=40, n_items=60, n_ratings=900, rng=2)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", [*LIST_TRAININGS, *PER_PERSON])
def test_a_training_per_user_does_not_stop_without_ratings(name, rows):
    ratings = WORLD.where(np.arange(len(WORLD)) < rows)
    fitted = train(name, ratings, epsilon="1", delta="1e-6", mode="strict", rng=0)
    assert fitted.guarantee.unit == "user"
    assert (len(fitted.user_ids), len(fitted.item_ids)) == (40, 60)
