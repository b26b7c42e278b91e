"""Conversion of fitted models to the item models and list models that devices download."""

import json

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import must_be
from tacit.models.evidence.presence_features import DAMPING, Presence
from tacit.models.exposure import steps
from tacit.models.fitted import Fitted
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.models.rounded import singles
from tacit.wire.exposure import ItemExposure
from tacit.wire.item_model import ItemDraw, ItemModel, ItemPresence
from tacit.wire.list_model import MOST_BYTES, ItemNeighbours, ListModel, LowRank

Floats = NDArray[np.float32]


def item_model(fitted: Fitted) -> ItemModel:
    """Return the item side of a model, and what a device needs to fold in a user.

    Raises `RequestError` for models that predict no ratings, such as top-N models, and for those of
    simulated reports.
    """
    must_be(Fitted, fitted, "a rating model", "pass what `fit` returns, or use `list_model`")
    fitted.guarantee.require_secret_noise("The item model")
    fitted = fitted.on_devices()
    return ItemModel(
        scale=fitted.scale,
        items=tuple(fitted.item_ids.ids.to_list()),
        factors=fitted.items.shape[2] - 1,
        link="cells" if fitted.sigma else "linear",
        sigma=fitted.sigma,
        draws=tuple(_draw(fitted, d) for d in range(len(fitted.mu))),
        guarantee=fitted.guarantee,
        presence=None if fitted.presence is None else _presence(fitted.presence),
        exposure=None if fitted.exposure is None else _exposure(fitted.exposure.weights),
    )


def _draw(fitted: Fitted, d: int) -> ItemDraw:
    weights = np.empty(0) if fitted.prior_weights is None else fitted.prior_weights[d]
    return ItemDraw(
        mu=float(fitted.mu[d]),
        item_bias=singles(fitted.items[d, :, 0]),
        item_factors=singles(fitted.items[d, :, 1:]),
        precision=singles(fitted.precision[d]),
        prior_weights=singles(weights),
        shrinkage=singles(fitted.condensed.shrinkage if fitted.condensed else np.empty(0)),
    )


def _presence(presence: Presence) -> ItemPresence:
    return ItemPresence(
        vectors=singles(presence.vectors),
        centre=singles(presence.centre),
        log_mean=presence.log_mean,
        log_scale=presence.log_scale,
        damping=DAMPING,
    )


def _exposure(weights: ItemWeights) -> ItemExposure:
    level, directions = weights.popularity, weights.directions
    return ItemExposure(
        spectrum=singles(np.empty(0) if directions is None else directions.spectrum),
        vectors=b"" if directions is None else steps(directions).tobytes(),
        popularity=singles(level if level.any() else np.empty(0)),
    )


HEADER = 1 << 14
"""Bytes reserved for the header without its items, more than any guarantee requires."""


def list_model(fitted: FittedLists, most: int = MOST_BYTES) -> ListModel:
    """Return the list model of a fitted top-N model, rounded to half precision.

    Of item-item weights the largest per item are retained, as many as fit into `most` bytes with
    the rest: all of them up to about 4,000 items. Raises `RequestError` if not even the directions
    fit, for other models, and for those of simulated reports.
    """
    must_be(FittedLists, fitted, "a list model", "pass what `fit` returns for one, such as 'ease'")
    fitted.guarantee.require_secret_noise("The list model")
    weights, items = fitted.weights, tuple(fitted.item_ids.ids.to_list())
    left = most - HEADER - len(json.dumps(items)) - 4 * len(items)
    low_rank = None if weights.directions is None else _low_rank(weights.directions)
    if low_rank is not None:
        left -= len(low_rank.vectors) + 8 * len(items) + 4 * len(low_rank.spectrum)
    neighbours = None
    if weights.between is not None:
        neighbours = _neighbours(weights.between, max(left, 0))
    popularity = singles(weights.popularity)
    return ListModel(items, popularity, fitted.guarantee, low_rank=low_rank, neighbours=neighbours)


def _low_rank(directions: Directions) -> LowRank:
    return LowRank(
        own_scale=singles(directions.left),
        score_scale=singles(directions.right),
        spectrum=singles(directions.spectrum),
        vectors=directions.vectors.astype("<f2").tobytes(),
    )


def _neighbours(between: csr_array | Floats, room: int) -> ItemNeighbours | None:
    n = between.shape[0]
    if 2 * n * n <= room:
        dense = between.toarray() if isinstance(between, csr_array) else between
        return ItemNeighbours(n, b"", dense.astype("<f2").tobytes())
    index_type = "<u2" if n <= 1 << 16 else "<u4"
    count = room // (n * (np.dtype(index_type).itemsize + 2))
    if count == 0:
        return None
    indices, values = np.empty((n, count), index_type), np.empty((n, count), "<f2")
    for item in range(n):
        row = between[[item]].toarray()[0] if isinstance(between, csr_array) else between[item]
        largest = np.sort(np.argpartition(-np.abs(row), count - 1)[:count])
        indices[item], values[item] = largest, row[largest]
    return ItemNeighbours(count, indices.tobytes(), values.tobytes())
