"""An exported list model ranks as a device does, in ONNX Runtime."""

import json
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from list_models import drawn

from tacit import fit, synthetic
from tacit.device.list_profile import ListProfile
from tacit.errors import RequestError
from tacit.exports.onnx_lists import onnx_of
from tacit.models import item_model, list_model


def session(model):
    return onnxruntime.InferenceSession(onnx_of(model), providers=["CPUExecutionProvider"])


def padded(users):
    """Items per user, padded with -1."""
    rows = np.full((len(users), max(map(len, users))), -1, np.int64)
    for row, items in zip(rows, users, strict=True):
        row[: len(items)] = items
    return rows


def random_users(n_items, count, seed=0):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 30, count)
    return [chance.choice(n_items, size, replace=False).tolist() for size in sizes]


def on_devices(model, users, n):
    return [ListProfile(model, [model.items[i] for i in items]).recommend(n) for items in users]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("factors", "neighbours"), [(0, 0), (8, 0), (0, 90), (0, 7), (8, 90), (8, 7)]
)
def test_lists_and_scores_are_those_of_devices(factors, neighbours):
    model = replace(drawn(90, factors, neighbours).model, hidden=(3, 50))
    users = [*random_users(90, 60), [3], list(range(60))]
    scores, indices = session(model).run(None, {"items": padded(users), "n": np.array([20])})
    for best, row, places in zip(on_devices(model, users, 20), scores, indices, strict=True):
        assert [model.items[place] for place in places] == [item for item, _ in best]
        assert row == pytest.approx([score for _, score in best], abs=1e-9)


def test_fitted_ease_gives_1000_users_the_lists_of_their_devices():
    own = synthetic(1000, 120, 30_000, scale="there")
    model = list_model(fit("ease", own))
    users = [own.items[own.users == user].tolist() for user in range(1000)]
    assert model.items == tuple(own.item_ids.ids)
    _, indices = session(model).run(None, {"items": padded(users), "n": np.array([20])})
    lists = [[item for item, _ in best] for best in on_devices(model, users, 20)]
    assert [[model.items[place] for place in places] for places in indices] == lists


def test_metadata_hold_the_ids_and_the_guarantee():
    model = drawn(9, 2, 0).model
    metadata = session(model).get_modelmeta().custom_metadata_map
    assert json.loads(metadata["items"]) == list(model.items)
    assert metadata["guarantee"] == model.guarantee.sentence


def test_a_wrong_score_would_be_seen():
    """The power of the comparison: one changed weight changes a list."""
    model = drawn(90, 0, 90).model
    document = onnx.load_from_string(onnx_of(model))
    (weights,) = (one for one in document.graph.initializer if list(one.dims) == [90, 90])
    changed = onnx.numpy_helper.to_array(weights).copy()
    changed[0, 1] += 100
    weights.CopyFrom(onnx.numpy_helper.from_array(changed, weights.name))
    other = onnxruntime.InferenceSession(document.SerializeToString())
    _, indices = other.run(None, {"items": np.array([[0]]), "n": np.array([1])})
    assert indices.tolist() == [[1]]
    assert on_devices(model, [[0]], 1)[0][0][0] != model.items[1]


def test_rating_models_are_refused():
    with pytest.raises(RequestError, match="ONNX is for list models"):
        onnx_of(item_model(fit("bias", synthetic(30, 60, 900))))
