"""Synthetic ratings have the size, the shares and the tails that they promise."""

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.readers import synthetic


@pytest.fixture(scope="module")
def ratings():
    return synthetic()


def test_size_and_star_shares(ratings):
    assert (len(ratings), ratings.n_users, ratings.n_items) == (100_000, 943, 1682)
    shares = np.bincount(ratings.levels) / len(ratings)
    assert shares == pytest.approx([0.061, 0.114, 0.271, 0.342, 0.212], abs=1e-4)


def test_nobody_rates_an_item_twice_and_everybody_rates_twenty(ratings):
    pairs = ratings.users.astype(np.int64) * ratings.n_items + ratings.items
    assert len(np.unique(pairs)) == len(ratings)
    assert np.bincount(ratings.users).min() >= 20


def test_activity_and_popularity_have_long_tails(ratings):
    activity, popularity = np.bincount(ratings.users), np.bincount(ratings.items)
    assert np.median(activity) < 0.8 * activity.mean() < 0.2 * activity.max()
    assert np.median(popularity) < 0.6 * popularity.mean() < 0.1 * popularity.max() * 1.5


def test_popular_items_are_better(ratings):
    count = np.bincount(ratings.items, minlength=1682)
    mean = np.bincount(ratings.items, ratings.values, 1682) / np.maximum(count, 1)
    often = count >= 5
    assert 0.35 < np.corrcoef(np.log(count[often]), mean[often])[0, 1] < 0.65


def test_rows_are_in_order_of_time_and_the_same_for_the_same_rng(ratings):
    assert (np.diff(ratings.times) >= 0).all()
    again = synthetic()
    assert (again.levels == ratings.levels).all()
    assert (again.items == ratings.items).all()
    assert not (synthetic(rng=1).levels == ratings.levels).all()


def test_people_may_rate_few_items_and_no_digit_of_others_changes():
    few = synthetic(1000, 800, 4000, fewest=2, rng=3)
    counts = np.bincount(few.users, minlength=1000)
    assert (counts.min(), counts.sum()) == (2, 4000)
    assert np.bincount(synthetic(50, 80, 150, fewest=3).users).tolist() == [3] * 50
    named, plain = synthetic(50, 80, 1500, fewest=20), synthetic(50, 80, 1500)
    assert named.items.tolist() == plain.items.tolist()
    with pytest.raises(RequestError, match="for 1000 users with 2 to 400 ratings each, got 1999"):
        synthetic(1000, 800, 1999, fewest=2)
    with pytest.raises(RequestError, match="fewest must be an integer of at least 1, got 0"):
        synthetic(10, 80, 100, fewest=0)


def test_other_shapes_and_scales():
    wide = synthetic(300, 500, 9000, "1:10:1", rng=3)
    assert len(wide) == 9000
    assert set(np.unique(wide.levels)) == set(range(10))
    with pytest.raises(RequestError, match="got 100"):
        synthetic(10, 100, 100)
