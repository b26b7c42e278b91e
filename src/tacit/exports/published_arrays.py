"""Arrays of a published model, by name: in memory, and as a safetensors file.

Only the published side of a model is exported: what devices download. Rows of users stay in the
model file.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.models import Fitted, FittedLists, item_model, list_model, load
from tacit.wire.item_model import MAGICS, ItemModel
from tacit.wire.list_model import ItemNeighbours, ListModel, place_bytes

Arrays = dict[str, NDArray[Any]]
Published = ItemModel | ListModel


def published(model: Fitted | FittedLists | Published) -> Published:
    """Return what devices download of a model: an item model or a list model.

    Raises `RequestError` for a model that cannot be published.
    """
    if isinstance(model, Fitted):
        return item_model(model)
    return list_model(model) if isinstance(model, FittedLists) else model


def read(path: Path) -> Published:
    """Return what devices download of a model file of `tacit fit`, `save` or a collector.

    Raises `DataError` for a damaged item model, and `RequestError` for any other file.
    """
    with path.open("rb") as file:
        is_item_model = file.read(len(MAGICS[0])) in MAGICS
    return ItemModel.from_bytes(path.read_bytes()) if is_item_model else published(load(path))


def arrays_of(model: Published) -> Arrays:
    """Return the arrays of a published model by name, with the shapes of its documentation.

    Item models have `mu` (D,), `item_bias` (D, n), `item_factors` (D, n, K) and `precision`
    (D, 1 + K) for D draws, see `tacit.wire.item_model`. List models have `popularity` (n,), and
    the parts of `low_rank` and `neighbours` that are present, see `tacit.wire.list_model`.
    """
    arrays = _lists(model) if isinstance(model, ListModel) else _ratings(model)
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _ratings(model: ItemModel) -> Arrays:
    n, K = len(model.items), model.factors

    def stacked(read: Callable[[Any], Any], *shape: int) -> NDArray[np.float32]:
        return np.array([np.asarray(read(draw)).reshape(shape) for draw in model.draws], np.float32)

    return {
        "mu": stacked(lambda draw: draw.mu),
        "item_bias": stacked(lambda draw: draw.item_bias, n),
        "item_factors": stacked(lambda draw: draw.item_factors, n, K),
        "precision": stacked(lambda draw: draw.precision, 1 + K),
    }


def _lists(model: ListModel) -> Arrays:
    n, arrays = len(model.items), {"popularity": np.asarray(model.popularity)}
    if (low := model.low_rank) is not None:
        arrays["own_scale"] = np.asarray(low.own_scale)
        arrays["score_scale"] = np.asarray(low.score_scale)
        arrays["spectrum"] = np.asarray(low.spectrum)
        arrays["vectors"] = np.frombuffer(low.vectors, "<f2").reshape(n, -1)
    return arrays if model.neighbours is None else arrays | _neighbours(model.neighbours, n)


def _neighbours(near: ItemNeighbours, n: int) -> Arrays:
    weights = np.frombuffer(near.weights, "<f2").reshape(n, near.count)
    if near.count == n:
        return {"weights": weights}
    places = np.frombuffer(near.places, f"<u{place_bytes(n)}").reshape(n, near.count)
    return {"neighbours": places.astype(np.int32), "weights": weights}


def safetensors_of(model: Published) -> bytes:
    """Return the arrays as a safetensors document, with ids and guarantee in its metadata.

    `items` and `hidden` are JSON arrays of raw ids, `guarantee` is the sentence, and `scale` is
    that of a rating model. Raises `RequestError` without the package safetensors.
    """
    try:
        from safetensors.numpy import save
    except ImportError:
        raise RequestError(
            "The package safetensors is not installed. Run pip install 'tacit-recommender[export]'."
        ) from None
    metadata = {
        "items": json.dumps(list(model.items)),
        "hidden": json.dumps([model.items[index] for index in model.hidden]),
        "guarantee": model.guarantee.sentence,
    }
    if isinstance(model, ItemModel):
        metadata |= {"scale": str(model.scale), "link": model.link, "sigma": str(model.sigma)}
    return save(arrays_of(model), metadata)
