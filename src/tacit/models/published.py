"""Conversion of a fitted model to the item model that devices download."""

import numpy as np

from tacit.errors import must_be
from tacit.models.evidence.presence_features import DAMPING, Presence
from tacit.models.exposure import steps
from tacit.models.fitted import Fitted
from tacit.models.lists.item_weights import ItemWeights
from tacit.models.rounded import singles
from tacit.wire.exposure import ItemExposure
from tacit.wire.item_model import ItemDraw, ItemModel, ItemPresence


def item_model(fitted: Fitted) -> ItemModel:
    """Return the item side of a model, and what a device needs to fold in a user.

    Raises `RequestError` for models that predict no ratings, such as top-N models.
    """
    must_be(Fitted, fitted, "a rating model", "pass what `fit` returns, or use `list_model`")
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
