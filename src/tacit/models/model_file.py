"""A fitted model as one file: a header of JSON and arrays, no pickle."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl

from tacit.errors import DataError, RequestError
from tacit.models import model_arrays
from tacit.models.condensing.condensed import CondensedItems
from tacit.models.evidence.presence_features import Presence
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary
from tacit.wire import model_header, strict

FORMAT = "tacit-model-1"
DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RequestError,
    RuntimeError,
    TypeError,
    ValueError,
    pl.exceptions.PolarsError,
    BadZipFile,
    zlib.error,
)
"""What reading raises where a file is no archive of arrays, or not all of one.

A version or a method of packing that zipfile does not know is a `RuntimeError`, as is a member that
wants a password.
"""
PLAIN = ("mu", "people", "items", "precision")
"""Fields that are arrays."""


def write(path: Path | str, fields: Mapping[str, Any]) -> None:
    """Write the fields of a `Fitted`; raises `RequestError` for a path that cannot be written."""
    header = {
        "format": FORMAT,
        "model": fields["model"],
        "scale": str(fields["scale"]),
        "sigma": fields["sigma"],
        "guarantee": fields["guarantee"].to_dict(),
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "user_ids": _ids(fields["user_ids"]),
        "item_ids": _ids(fields["item_ids"]),
        **{name: fields[name] for name in PLAIN},
    }
    presence, one = fields["presence"], fields["condensed"]
    if presence is not None and fields["prior_weights"] is not None:
        arrays["prior_weights"] = fields["prior_weights"]
        arrays |= {f"presence_{k}": v for k, v in presence.to_arrays().items()}
    if one is not None:
        arrays |= {f"condensed_{k}": v for k, v in one.to_arrays().items()}
    try:
        with Path(path).open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise RequestError(
            f"{path} cannot be written ({error.strerror}); name a file in a folder that exists."
        ) from None


def read(path: Path | str) -> dict[str, Any]:
    """The fields that `write` wrote; raises `RequestError` when the file is something else."""
    try:
        with Path(path).open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays["header"].tobytes())
        if header["format"] == FORMAT:
            return _fields(header, arrays)
    except DataError as error:
        raise RequestError(
            f"{path} is not a saved model ({str(error).rstrip('.')}); create one with `tacit fit`."
        ) from None
    except DAMAGED:
        raise RequestError(f"{path} is not a saved model; create one with `tacit fit`.") from None
    raise RequestError(
        f"{path} has format {str(header['format'])[:40]}, not {FORMAT}; fit the model again."
    )


def _fields(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    scale = RatingScale.parse(header["scale"])
    scale.require_stars("A model of ratings")
    sigma = model_arrays.checked(arrays, scale.values, header["sigma"])
    presence, one = _named(arrays, "presence_"), _named(arrays, "condensed_")
    return {
        "model": strict.typed(header, "model", str, "the header"),
        "scale": scale,
        "user_ids": Vocabulary(pl.Series("id", arrays["user_ids"])),
        "item_ids": Vocabulary(pl.Series("id", arrays["item_ids"])),
        **{name: arrays[name] for name in PLAIN},
        "sigma": sigma,
        "guarantee": model_header.guarantee(header["guarantee"], "the header"),
        "presence": Presence.from_arrays(presence) if presence else None,
        "prior_weights": arrays.get("prior_weights"),
        "condensed": CondensedItems.from_arrays(one) if one else None,
    }


def _named(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, without the prefix."""
    found = arrays.items()
    return {name.removeprefix(prefix): value for name, value in found if name.startswith(prefix)}


def _ids(vocabulary: Vocabulary) -> Any:
    kind = "i8" if vocabulary.ids.dtype.is_integer() else "U"
    return vocabulary.ids.to_numpy().astype(kind)
