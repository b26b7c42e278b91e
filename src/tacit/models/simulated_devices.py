"""Simulated devices: the fitted item side, with users folded in from their true ratings.

Simulates many devices at once for evaluation, on an engine if one is passed. On a real device the
same solver is `tacit.device.profile`, and the true ratings never leave the device.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.given import must_be
from tacit.kernels.layout import Side, by_user
from tacit.models.device_blocks import (
    Downloaded,
    ListsAsked,
    asked_in_blocks,
    list_block,
    people_in_blocks,
    predict_block,
)
from tacit.models.fitted import Fitted, Floats
from tacit.ratings import Codes, Ratings

Doubles = NDArray[np.float64]


def at_home(fitted: Fitted, own: Ratings) -> Fitted:
    """Return the model with every user's factors solved on the device from `own` ratings.

    Users and items are matched by raw id. Raises `RequestError` if `fitted` is not a `Fitted`, or
    if `own` is not a `Ratings`, is on another scale, or shares no user and item with the model.
    """
    model = _downloaded(fitted)
    return replace(fitted.on_devices(), people=model.people(*_everybody(fitted, own)))


def own_rows(fitted: Fitted, own: Ratings) -> Iterator[Doubles]:
    """Yield the folded-in rows of all users, shape (users, 1 + K), for each draw.

    Raises `RequestError` as `at_home` does.
    """
    return _downloaded(fitted).own_rows(*_everybody(fitted, own))


def device_predict(
    fitted: Fitted, own: Ratings, users: Codes, items: Codes, engine: Engine | None = None
) -> Floats:
    """Predict ratings of pairs as each user's device does, shape (n,).

    `engine`: where devices are simulated, None for this process. Results are identical on every
    engine. Raises `RequestError` as `at_home` does.
    """
    if engine is None:
        return at_home(fitted, own).predict_codes(users, items)
    model = _downloaded(fitted)
    order = np.argsort(users, kind="stable")
    sorted_users, sorted_items = users[order].astype(np.int32), items[order].astype(np.int32)
    blocks = people_in_blocks(*_everybody(fitted, own), engine.blocks)
    predicted = engine.over(
        predict_block, asked_in_blocks(blocks, sorted_users, sorted_items), model
    )
    ratings = np.empty(len(users), np.float32)
    ratings[order] = np.concatenate([each.ratings for each in predicted])
    return ratings


def device_lists(fitted: Fitted, own: Ratings, codes: Codes, length: int, engine: Engine) -> Codes:
    """Compute the lists of the devices of `codes`, ascending codes of all users in `own`.

    Shape (users, length), as in `lists_by_rating`. Raises `RequestError` as `at_home` does, and for
    a length below 1.
    """
    model = _downloaded(fitted)
    users = np.searchsorted(codes, own.users).astype(np.int32)
    blocks = people_in_blocks(*_grouped(fitted, own, users, len(codes)), engine.blocks)
    requests = [ListsAsked(mine, length) for _, mine in blocks]
    listed = engine.over(list_block, requests, model)
    return np.concatenate([each.codes for each in listed])


def _downloaded(fitted: Fitted) -> Downloaded:
    must_be(Fitted, fitted, "a rating model", "pass what `fit` returns")
    return Downloaded.of(fitted)


def _everybody(fitted: Fitted, own: Ratings) -> tuple[Side, Doubles]:
    must_be(Ratings, own, "`Ratings`", "pass the ratings of the model's users")
    if str(own.scale) != str(fitted.scale):
        raise RequestError(
            f"{own.name} must be on the model's scale {fitted.scale}, got {own.scale}; read the "
            "ratings with that scale."
        )
    known = own.aligned(fitted.user_ids, fitted.item_ids)
    return _grouped(fitted, known, known.users, len(fitted.user_ids))


def _grouped(fitted: Fitted, own: Ratings, users: Codes, people: int) -> tuple[Side, Doubles]:
    """Return the items of each user, and the ratings in that order. `users`: row of each rating."""
    side, order = by_user(users, own.items, people, len(fitted.item_ids))
    return side, fitted.levels[own.levels[order]]
