"""A fitted top-N model as named arrays and back, with all values checked.

Arrays: the reported and the queried slots of each user by `start` and `items`, the probabilities of
a report, and the weights of devices and of the provider, which must be of low rank.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import DataError
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.privacy.guarantee import Guarantee
from tacit.vocabulary import Vocabulary

Arrays = Mapping[str, NDArray[Any]]
DIRECTIONS = ("vectors", "spectrum", "left", "right")
LARGEST = 1e15
"""Bound in magnitude: sums of products stay finite in single precision."""


def to_arrays(fitted: FittedLists) -> dict[str, NDArray[Any]]:
    """Return a model whose weights have no part between single items as named arrays."""
    presence = fitted.presence
    arrays: dict[str, NDArray[Any]] = {"rated": presence.rated, "unrated": presence.unrated}
    arrays |= _slots("reported", presence.reported)
    arrays |= {} if presence.asked is None else _slots("asked", presence.asked)
    arrays |= _weights("device", fitted.weights)
    provider = fitted.provider_weights
    return arrays | ({} if provider is None else _weights("provider", provider))


def from_arrays(
    arrays: Arrays, model: str, user_ids: Vocabulary, item_ids: Vocabulary, guarantee: Guarantee
) -> FittedLists:
    """Restore a model from `to_arrays`.

    Raises `DataError` for arrays that are missing or unknown, and for a wrong type, shape or value.
    """
    left = dict(arrays)
    shape = len(user_ids), len(item_ids)
    queried = _matrix(left, "asked", shape) if "asked_start" in left else None
    presence = PresenceMatrix(
        _matrix(left, "reported", shape),
        _checked(left, "rated", np.float64, shape[:1]),
        _checked(left, "unrated", np.float64, shape[:1]),
        queried,
    )
    p, q = presence.rated, presence.unrated
    if not ((q >= 0) & (q < p) & (p <= 1)).all():
        raise DataError("rated and unrated must be probabilities, the first the larger one")
    fitted = FittedLists(
        model=model,
        user_ids=user_ids,
        item_ids=item_ids,
        weights=_weights_of(left, "device", shape[1]),
        presence=presence,
        guarantee=guarantee,
        provider_weights=_weights_of(left, "provider", shape[1])
        if _has(left, "provider")
        else None,
    )
    if left:
        raise DataError(f"the arrays {', '.join(sorted(left))} are unknown")
    return fitted


def _slots(name: str, matrix: csr_array) -> dict[str, NDArray[Any]]:
    rows = matrix.sorted_indices()
    return {
        f"{name}_start": rows.indptr.astype(np.int64),
        f"{name}_items": rows.indices.astype(np.int32),
    }


def _weights(name: str, weights: ItemWeights) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {f"{name}_popularity": weights.popularity}
    if weights.directions is not None:
        arrays |= {f"{name}_{part}": getattr(weights.directions, part) for part in DIRECTIONS}
    return arrays


def _has(arrays: Arrays, name: str) -> bool:
    return f"{name}_popularity" in arrays


def _checked(
    arrays: dict[str, NDArray[Any]], name: str, kind: type[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    """Remove an array and return it. `shape`: -1 for any length."""
    if name not in arrays:
        raise DataError(f"the array {name} is missing")
    array = arrays.pop(name)
    fits = array.ndim == len(shape) and all(
        size in (-1, has) for size, has in zip(shape, array.shape, strict=True)
    )
    if array.dtype != kind or not fits:
        raise DataError(f"{name} must be {np.dtype(kind)} of shape {shape}, got {array.dtype}")
    if not (np.abs(array) <= LARGEST).all():
        raise DataError(f"{name} must be finite and at most {LARGEST:g} in magnitude")
    return array


def _matrix(arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int, int]) -> csr_array:
    """Return 1 at each slot. The slots of a user must be distinct and ascending."""
    start = _checked(arrays, f"{name}_start", np.int64, (shape[0] + 1,))
    items = _checked(arrays, f"{name}_items", np.int32, (-1,))
    if start[0] != 0 or start[-1] != len(items) or (np.diff(start) < 0).any():
        raise DataError(f"{name}_start must ascend from 0 to the number of slots")
    row = np.repeat(np.arange(shape[0], dtype=np.int64), np.diff(start))
    in_catalogue = ((items >= 0) & (items < shape[1])).all()
    if not in_catalogue or (np.diff(row * shape[1] + items) <= 0).any():
        raise DataError(f"{name}_items must be distinct items of the catalogue, ascending per user")
    index = np.int32 if len(items) <= np.iinfo(np.int32).max else np.int64
    cells = np.ones(len(items), np.float32), items.astype(index), start.astype(index)
    return csr_array(cells, shape=shape)


def _weights_of(arrays: dict[str, NDArray[Any]], name: str, items: int) -> ItemWeights:
    popularity = _checked(arrays, f"{name}_popularity", np.float32, (items,))
    if f"{name}_spectrum" not in arrays:
        return ItemWeights(popularity=popularity)
    spectrum = _checked(arrays, f"{name}_spectrum", np.float32, (-1,))
    directions = Directions(
        vectors=_checked(arrays, f"{name}_vectors", np.float32, (items, len(spectrum))),
        spectrum=spectrum,
        left=_checked(arrays, f"{name}_left", np.float32, (items,)),
        right=_checked(arrays, f"{name}_right", np.float32, (items,)),
    )
    return ItemWeights(popularity=popularity, directions=directions)
