"""Serialization of a fitted top-N model with its users' reports, with all values checked.

One archive with a JSON header and named arrays, no pickle.

Arrays: the reported and the queried slots of each user by `start` and `items`, the probabilities of
a report, and the weights of devices and of the provider. The header has what the search of the
fit chose, if it did, except in files of earlier versions.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import DataError
from tacit.models import archive
from tacit.models.evidence.presence_matrix import PresenceMatrix
from tacit.models.evidence.tuning import Tuning
from tacit.models.lists.item_weights import Directions, ItemWeights
from tacit.wire import model_header, strict

Arrays = Mapping[str, NDArray[Any]]
DIRECTIONS = ("vectors", "spectrum", "left", "right")
LARGEST = 1e15
"""Bound in magnitude: sums of products stay finite in single precision."""


class ListParts(NamedTuple):
    """Parts of a fitted top-N model: the reports, and the weights of devices and the provider."""

    presence: PresenceMatrix
    weights: ItemWeights
    provider_weights: ItemWeights | None


def to_arrays(parts: ListParts) -> dict[str, NDArray[Any]]:
    """Return the parts as named arrays."""
    presence, weights, provider = parts
    arrays: dict[str, NDArray[Any]] = {"rated": presence.rated, "unrated": presence.unrated}
    arrays |= _slots("reported", presence.reported)
    arrays |= {} if presence.asked is None else _slots("asked", presence.asked)
    arrays |= {} if presence.blocks is None else {"blocks": presence.blocks}
    arrays |= _weights("device", weights)
    return arrays | ({} if provider is None else _weights("provider", provider))


def from_arrays(arrays: Arrays, shape: tuple[int, int]) -> ListParts:
    """Restore the parts from `to_arrays`. `shape`: (users, items).

    Raises `DataError` for arrays that are missing or unknown, and for a wrong type, shape or value.
    """
    left = dict(arrays)
    queried = _matrix(left, "asked", shape) if "asked_start" in left else None
    presence = PresenceMatrix(
        _matrix(left, "reported", shape),
        _checked(left, "rated", np.float64, shape[:1]),
        _checked(left, "unrated", np.float64, shape[:1]),
        queried,
        blocks=_checked(left, "blocks", np.int32, shape[1:]) if "blocks" in left else None,
    )
    if presence.blocks is not None and (presence.blocks < 0).any():
        raise DataError("blocks must be numbers from 0 on")
    p, q = presence.rated, presence.unrated
    if not ((q >= 0) & (q < p) & (p <= 1)).all():
        raise DataError("rated and unrated must be probabilities, the first the larger one")
    weights = _weights_of(left, "device", shape[1])
    provider = _weights_of(left, "provider", shape[1]) if _has(left, "provider") else None
    if left:
        raise DataError(f"the arrays {', '.join(sorted(left))} are unknown")
    return ListParts(presence, weights, provider)


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
    if isinstance(weights.between, csr_array):
        arrays |= _slots(f"{name}_between", weights.between)
        arrays[f"{name}_between_values"] = weights.between.sorted_indices().data
    elif weights.between is not None:
        arrays[f"{name}_between"] = weights.between
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
    between = _between(arrays, f"{name}_between", items)
    if f"{name}_spectrum" not in arrays:
        return ItemWeights(popularity=popularity, between=between)
    spectrum = _checked(arrays, f"{name}_spectrum", np.float32, (-1,))
    directions = Directions(
        vectors=_checked(arrays, f"{name}_vectors", np.float32, (items, len(spectrum))),
        spectrum=spectrum,
        left=_checked(arrays, f"{name}_left", np.float32, (items,)),
        right=_checked(arrays, f"{name}_right", np.float32, (items,)),
    )
    return ItemWeights(popularity=popularity, directions=directions, between=between)


def _between(
    arrays: dict[str, NDArray[Any]], name: str, items: int
) -> csr_array | NDArray[np.float32] | None:
    """Return the weights between single items, dense, sparse or absent."""
    if name in arrays:
        return _checked(arrays, name, np.float32, (items, items))
    if f"{name}_values" not in arrays:
        return None
    links = _matrix(arrays, name, (items, items))
    links.data = _checked(arrays, f"{name}_values", np.float32, (links.nnz,))
    return links


FORMAT = "tacit-lists-1"
IDS = ("user_ids", "item_ids")


def write(path: Path | str, fields: Mapping[str, Any]) -> None:
    """Write the fields of a `FittedLists`. Raises `RequestError` for a path that cannot be
    written."""
    header = {
        "format": FORMAT,
        "model": fields["model"],
        "guarantee": fields["guarantee"].to_dict(),
    }
    header |= tuning_header(fields["tuning"], "tuning")
    parts = ListParts(*(fields[name] for name in ListParts._fields))
    ids = {name: archive.to_array(fields[name]) for name in IDS}
    archive.write(path, header, ids | to_arrays(parts))


def read(path: Path | str) -> dict[str, Any]:
    """Read the fields from `write`. Raises `RequestError` for any other file."""
    return archive.read(path, {FORMAT: fields_of})


def fields_of(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the fields in an archive. Raises an error of `archive.DAMAGED` or `DataError` for
    arrays that are missing or unknown, and for a wrong type, shape or value.

    The guarantee is as stated by the provider.
    """
    if missing := sorted(set(IDS) - set(arrays)):
        raise DataError(f"the array {missing[0]} is missing")
    users, items = (archive.to_vocabulary(arrays.pop(name)) for name in IDS)
    parts = from_arrays(arrays, (len(users), len(items)))
    return {
        "model": strict.typed(header, "model", str, "the header"),
        "user_ids": users,
        "item_ids": items,
        "guarantee": model_header.guarantee(header["guarantee"], "the header"),
        **parts._asdict(),
        "tuning": tuning_of(header, "tuning"),
    }


def tuning_header(tuning: Tuning | None, key: str) -> dict[str, Any]:
    """Return the entry `key` of a header, empty without a tuning."""
    return {} if tuning is None else {key: tuning.to_dict()}


def tuning_of(header: dict[str, Any], key: str) -> Tuning | None:
    """Return the tuning from `tuning_header`. Raises `DataError` for an invalid one."""
    return Tuning.from_dict(header[key], f"the header's {key}") if key in header else None
