"""The list model: what is published ranks as the fitted model does, to the rounding of halves."""

import numpy as np
import pytest
from lists_world import world

from tacit import fit
from tacit.device.list_profile import ListProfile
from tacit.models import list_model
from tacit.wire.list_model import MOST_BYTES, ListModel


@pytest.mark.parametrize(
    ("name", "settings"), [("popularity", {}), ("ease", {}), ("graph-filter", {"directions": 5})]
)
def test_a_device_scores_as_the_fitted_model_does(name, settings, own, table):
    """Of fewer directions than items, or what scales either side of them would cancel out."""
    fitted = fit(name, own, **settings)
    model = ListModel.from_bytes(list_model(fitted).to_bytes())
    for person in (0, 17):
        mine = own.item_ids.take(np.flatnonzero(table[person]).astype(np.int32)).to_list()
        told = ListProfile(model, mine).recommend(5)
        expected = fitted.recommend_to(own.item_ids.take(own.items[own.users == person]), 5)
        assert [score for _, score in told] == pytest.approx(
            [score for _, score in expected], abs=2e-3
        )


def test_the_largest_weights_are_kept_and_the_bound_is_too():
    chance = np.random.default_rng(0)
    fitted = fit("ease", world(chance.random((40, 200)) < 0.2), ridge=5)
    whole, cut = list_model(fitted), list_model(fitted, 60_000)
    assert whole.neighbours.count == 200
    assert len(cut.to_bytes()) <= 60_000 < len(whole.to_bytes()) <= MOST_BYTES
    count = cut.neighbours.count
    kept = np.frombuffer(cut.neighbours.places, "<u2").reshape(200, count)
    for item in (0, 99, 199):
        sizes = abs(fitted.weights.between[item])
        assert sizes[kept[item]].min() >= np.delete(sizes, kept[item]).max()
    assert list_model(fitted, 18_000).neighbours is None


def test_directions_count_towards_the_bound():
    fitted = fit("graph-filter", world(np.random.default_rng(0).random((90, 200)) < 0.2))
    cut = list_model(fitted, 70_000)
    assert 69_000 - (1 << 14) < len(cut.to_bytes()) <= 70_000
    assert len(cut.low_rank.spectrum) == 90 > cut.neighbours.count


def test_sparse_weights_come_out_as_dense_ones_do(own):
    fitted = fit("graph-filter", own)
    weights = np.frombuffer(list_model(fitted).neighbours.weights, "<f2").reshape(20, 20)
    assert weights == pytest.approx(fitted.weights.between.toarray(), abs=1e-3)
