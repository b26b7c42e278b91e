"""Exported arrays, vectors and cards say what the model says."""

import json

import numpy as np
import polars as pl
import pytest
from list_models import drawn
from safetensors import safe_open
from safetensors.numpy import load as tensors_of

from tacit import compile_channel, fit, perturb, synthetic
from tacit.collection.plans import Rated
from tacit.device.list_profile import ListProfile
from tacit.errors import RequestError
from tacit.exports.item_vectors import item_vectors
from tacit.exports.published_arrays import arrays_of, published, safetensors_of
from tacit.models import item_model, list_model


@pytest.fixture(scope="module")
def rated():
    return synthetic(120, 60, 3_000)


def test_safetensors_hold_the_published_arrays(rated, tmp_path):
    model = item_model(fit("mf", rated)).hiding([7])
    data = safetensors_of(model)
    stored = tensors_of(data)
    draw = model.draws[0]
    assert stored["item_bias"][0].tolist() == list(draw.item_bias)
    assert stored["item_factors"][0].ravel().tolist() == list(draw.item_factors)
    assert stored["precision"][0].tolist() == list(draw.precision)
    file = tmp_path / "model.safetensors"
    file.write_bytes(data)
    with safe_open(file, "np") as opened:
        metadata = opened.metadata()
    assert json.loads(metadata["items"]) == list(model.items)
    assert (metadata["hidden"], metadata["scale"]) == ("[7]", str(model.scale))
    assert metadata["guarantee"] == model.guarantee.sentence


def weights_of(arrays, n):
    """Weights between n items, as the documentation of the arrays defines them."""
    W = np.zeros((n, n))
    if "vectors" in arrays:
        V = arrays["vectors"].astype(float)
        W += (
            arrays["own_scale"][:, None]
            * (V * arrays["spectrum"])
            @ (arrays["score_scale"][:, None] * V).T
        )
    if "neighbours" in arrays:
        np.add.at(W, (np.arange(n)[:, None], arrays["neighbours"]), arrays["weights"])
    elif "weights" in arrays:
        W += arrays["weights"]
    return W


@pytest.mark.parametrize(("factors", "neighbours"), [(0, 0), (4, 0), (0, 5), (3, 30)])
def test_arrays_of_a_list_model_give_its_weights(factors, neighbours):
    wanted = drawn(30, factors, neighbours)
    assert weights_of(arrays_of(wanted.model), 30) == pytest.approx(wanted.weights, abs=1e-5)


def test_safetensors_of_ease_give_1000_users_the_lists_of_their_devices():
    own = synthetic(1000, 120, 30_000, scale="there")
    model = list_model(fit("ease", own))
    stored, x = tensors_of(safetensors_of(model)), np.zeros((1000, 120))
    x[own.users, own.items] = 1
    scores = stored["popularity"] + x @ weights_of(stored, 120)
    best = np.argsort(np.where(x == 1, np.inf, -scores), axis=1, kind="stable")[:, :20]
    for user, places in enumerate(best):
        items = [model.items[i] for i in np.flatnonzero(x[user])]
        listed = ListProfile(model, items).recommend(20)
        assert [model.items[place] for place in places] == [item for item, _ in listed]


def test_an_index_over_item_vectors_predicts_as_the_model(rated):
    fitted = fit("mf", rated)
    table = item_vectors(published(fitted))
    user = fitted.people[0, 3]
    scores = table["bias"].to_numpy() + table["vector"].to_numpy() @ user[1:]
    wanted = fitted.predict_codes(np.full(60, 3), np.arange(60))
    inside = (wanted > 1) & (wanted < 5)
    assert inside.sum() > 30
    shift = wanted - scores
    assert shift[inside] == pytest.approx(shift[inside][0], abs=1e-4)


def test_an_index_over_list_vectors_scores_as_the_model():
    drawn_lists = drawn(30, 4, 0)
    table = item_vectors(drawn_lists.model)
    own, scored = table["own_vector"].to_numpy(), table["score_vector"].to_numpy()
    assert own @ scored.T == pytest.approx(drawn_lists.weights, abs=1e-4)
    assert table["popularity"].to_list() == list(drawn_lists.model.popularity)
    with pytest.raises(RequestError, match="has no item vectors; export it to onnx"):
        item_vectors(drawn(30, 0, 5).model)


@pytest.fixture
def model_file(rated, tmp_path):
    channel = compile_channel("randomized-response", epsilon="2", scale=rated.scale)
    path = tmp_path / "model"
    fit("bias", perturb(rated, Rated(channel))).save(path)
    return path


def test_the_command_writes_each_format(run, model_file, tmp_path):
    for to, ending in (("safetensors", "safetensors"), ("parquet", "parquet"), ("card", "md")):
        status, _, errors = run("export", model_file, "--to", to)
        assert (status, errors) == (0, f"Exported {model_file} to {model_file}.{ending}.\n")
    assert pl.read_parquet(f"{model_file}.parquet").columns == ["item", "hidden", "bias", "vector"]
    card = (tmp_path / "model.md").read_text()
    assert card.startswith("---\nlibrary_name: tacit\ntags:\n- recommender-system\n")
    assert "Epsilon = 2 per value" in card
    assert "No guarantee per user" in card
    status, _, errors = run("export", model_file, "--to", "onnx")
    assert (status, "ONNX is for list models" in errors) == (1, True)
    status, _, errors = run("export", model_file, "--to", "pickle")
    assert (status, errors.splitlines()[-1]) == (
        1, "--to must be one of onnx, safetensors, parquet, card, got pickle.",
    )  # fmt: skip


def test_files_of_fit_and_of_a_collector_are_exported_alike(run, tmp_path):
    fitted = fit("ease", synthetic(80, 40, 1_600, scale="there"))
    fitted.save(tmp_path / "saved")
    (tmp_path / "served.items").write_bytes(list_model(fitted).to_bytes())
    for name in ("saved", "served.items"):
        status, _, errors = run("export", tmp_path / name, "--to", "onnx")
        assert status == 0, errors
    documents = {(tmp_path / f"{name}.onnx").read_bytes() for name in ("saved", "served.items")}
    assert len(documents) == 1
    assert run("label", tmp_path / "saved", "-o", tmp_path / "label.html")[0] == 0
