"""Serialization of a released item-based map: one file with a JSON header and arrays, no pickle.

A file is untrusted. All of it is checked once, when it is read. Its guarantee is as stated by the
provider, because epsilon cannot be computed from a map.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.crossdomain.x_map.x_map import XMap
from tacit.errors import DataError, RequestError
from tacit.models.archive import DAMAGED
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary
from tacit.wire import model_header, strict

Arrays = dict[str, NDArray[Any]]
FORMAT = "tacit-map-1"
WHAT = "the header"
SETTINGS = (
    "variant", "mode", "alteregos", "k", "damping", "decay", "stages", "neighbour_epsilon",
)  # fmt: skip
"""Saved settings of a system. Its secret draws are never saved."""
KEYS = ("format", "scale", "first", "settings", "guarantee")
LARGEST = 1e12
"""Largest magnitude of a similarity, to which `x-map` adds Laplace noise."""


def write(path: Path | str, fields: Mapping[str, Any]) -> None:
    """Write the fields of an `ItemMap`. Raises `RequestError` for a path that cannot be written."""
    settings = asdict(fields["system"])
    header = {
        "format": FORMAT,
        "scale": str(fields["scale"]),
        "first": fields["first"],
        "settings": {name: settings[name] for name in SETTINGS},
        "guarantee": fields["guarantee"].to_dict(),
    }
    ids = fields["item_ids"].ids
    arrays: Arrays = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "item_ids": ids.to_numpy().astype("i8" if ids.dtype.is_integer() else "U"),
        "replacement": fields["replacement"].astype("<i4"),
        "neighbours": fields["neighbours"].astype("<i4"),
        "similarities": fields["similarities"].astype("<f8"),
        "means": fields["means"].astype("<f8"),
    }
    try:
        with Path(path).open("wb") as file:
            np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
    except OSError as error:
        raise RequestError(
            f"{path} cannot be written ({error.strerror}); name a file in an existing folder."
        ) from None


def is_item_map(path: Path) -> bool:
    """Return whether a file contains a released item-based map, well-formed or not."""
    try:
        with path.open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            return b'"tacit-map-' in file["header"].tobytes()
    except DAMAGED:
        return False


def read(path: Path | str) -> dict[str, Any]:
    """Read the fields of an `ItemMap`. Raises `RequestError` for any other file."""
    try:
        with Path(path).open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            return _fields({name: file[name] for name in file.files})
    except DataError as error:
        reason = f" ({str(error).rstrip('.')})"
    except DAMAGED:
        reason = ""
    raise RequestError(f"{path} is not a saved map{reason}; create one with `tacit fit`.")


def _fields(arrays: Arrays) -> dict[str, Any]:
    document = strict.parse(arrays.pop("header").tobytes(), WHAT, model_header.LONGEST)
    header = strict.fields(document, WHAT, KEYS)
    if header["format"] != FORMAT:
        raise DataError(f"format must be {FORMAT}, got {strict.brief(header['format'])}")
    scale = RatingScale.parse(strict.typed(header, "scale", str, WHAT))
    scale.require_stars("A map")
    system = _system(header["settings"])
    ids = _checked(arrays, strict.integer(header, "first", WHAT), system, scale)
    return {
        "system": system,
        "scale": scale,
        "item_ids": ids,
        "first": header["first"],
        **{name: arrays[name] for name in ("replacement", "neighbours", "similarities", "means")},
        "guarantee": _guarantee(header["guarantee"], system),
    }


def _system(value: Any) -> XMap:
    """Return the system with these settings. Its constructor checks their ranges."""
    known = strict.fields(value, f"{WHAT}'s settings", SETTINGS)
    decay = model_header.one(known, "decay", strict.real, WHAT)
    for name in ("k", "damping"):
        strict.integer(known, name, WHAT)
    if known["variant"] != "item" or known["mode"] not in ("none", "faithful"):
        raise DataError(f"{WHAT} has an unknown variant or mode")
    if type(known["stages"]) is not bool or known["decay"] != decay:
        raise DataError(f"{WHAT}'s stages must be true or false, and its decay a number")
    if not isinstance(known["neighbour_epsilon"], str | None):
        raise DataError(f"{WHAT}'s neighbour_epsilon must be a decimal string or null")
    settings: dict[str, Any] = {**known, "decay": decay}
    return XMap(**settings)


def _guarantee(value: Any, system: XMap) -> Guarantee:
    """Return the stated guarantee. A system without noise cannot state one that holds."""
    guarantee = model_header.guarantee(value, WHAT)
    stated = (guarantee.epsilon is not None, guarantee.fails is not None)
    if stated != (system.mode == "faithful",) * 2:
        raise DataError(
            f"{system.name} must state "
            + ("a claim that fails" if system.mode == "faithful" else "no guarantee")
        )
    return guarantee


def _checked(arrays: Arrays, first: int, system: XMap, scale: RatingScale) -> Vocabulary:
    """Check the type, shape and range of every array, and return the ids of items."""
    ids = arrays.pop("item_ids")
    if ids.ndim != 1 or (ids.dtype != np.int64 and ids.dtype.kind != "U"):
        raise DataError("ids must be integers or text, one per item")
    n = len(ids)
    if not 0 < first < n:
        raise DataError(f"first must be from 1 to {n - 1}, got {first}")
    targets, last = (n - first, system.k), scale.n_levels - 1
    expected = {
        "replacement": ("<i4", (first,), first, n - 1),
        "neighbours": ("<i4", targets, first, n - 1),
        "similarities": ("<f8", targets, -LARGEST, LARGEST),
        "means": ("<f8", (n - first,), 0, last),
    }
    if odd := sorted(set(arrays) ^ set(expected)):
        raise DataError(f"the arrays {', '.join(odd)} are missing or unknown")
    for name, (kind, shape, low, high) in expected.items():
        array = arrays[name]
        if array.dtype != np.dtype(kind) or array.shape != shape:
            raise DataError(
                f"{name} must be {kind} of shape {shape}, got {array.dtype} of {array.shape}"
            )
        inside = (array >= low) & (array <= high)  # false for NaN
        absent = array == -1 if kind == "<i4" else np.zeros(shape, np.bool_)
        if not (inside | absent).all():
            raise DataError(f"{name} must be from {low:g} to {high:g}")
    return Vocabulary(pl.Series("id", ids))
