"""Archives of saved models: a JSON header and named arrays in one file, without pickle."""

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.atomic_files import atomic
from tacit.errors import DataError, RequestError
from tacit.vocabulary import Vocabulary

Arrays = Mapping[str, NDArray[Any]]
Model = TypeVar("Model")
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
"""Exceptions raised on reading a file that is not a complete archive of arrays.

zipfile raises `RuntimeError` for an unknown version or compression method, and for a member that
requires a password.
"""


def write(
    path: Path | str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    private: bool = False,
) -> None:
    """Write an archive atomically. `private`: as of `atomic`.

    Raises `RequestError` for a path that cannot be written.
    """
    encoded = np.frombuffer(json.dumps(header).encode(), np.uint8)
    try:
        with atomic(Path(path), private=private) as partial, partial.open("wb") as file:
            np.savez(file, header=encoded, **arrays)
    except OSError as error:
        raise RequestError(
            f"{path} cannot be written ({error.strerror}); name a file in an existing folder."
        ) from None


def read(
    path: Path | str, formats: Mapping[str, Callable[[dict[str, Any], dict[str, Any]], Model]]
) -> Model:
    """Read an archive by the reader of its format, called with header and arrays.

    Raises `RequestError` for any other file, and where the reader raises an error of `DAMAGED`.
    """
    try:
        with Path(path).open("rb") as stored, np.load(stored, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        if header["format"] in formats:
            return formats[header["format"]](header, arrays)
    except DataError as error:
        raise RequestError(
            f"{path} is not a saved model ({str(error).rstrip('.')}); create one with `tacit fit`."
        ) from None
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise RequestError(
            f"{path} cannot be read: {error.strerror}; name a model file of `tacit fit`."
        ) from None
    except DAMAGED:
        raise RequestError(f"{path} is not a saved model; create one with `tacit fit`.") from None
    remedy = "read it with `tacit.load`" if len(formats) == 1 else "fit the model again"
    raise RequestError(
        f"{path} has format {str(header['format'])[:40]}, not {' or '.join(formats)}; {remedy}."
    )


def to_array(vocabulary: Vocabulary) -> NDArray[Any]:
    """Return raw ids as an array of integers or text."""
    kind = "i8" if vocabulary.ids.dtype.is_integer() else "U"
    return vocabulary.ids.to_numpy().astype(kind)


def to_vocabulary(ids: NDArray[Any]) -> Vocabulary:
    """Restore a vocabulary from `to_array`. Raises `DataError` for other arrays."""
    count_ids(ids)
    return Vocabulary(pl.Series("id", ids))


def count_ids(ids: NDArray[Any]) -> int:
    """Return the number of ids. Raises `DataError` for an array of another kind."""
    if ids.ndim != 1 or not len(ids) or (ids.dtype != np.int64 and ids.dtype.kind != "U"):
        raise DataError("ids must be integers or text, one per row")
    return len(ids)
