"""Records, the rows of result files: their types, their files, and where these are written."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, get_args, get_origin

import polars as pl

from tacit.atomic_files import atomic, require_distinct, write_atomically
from tacit.errors import DataError, RequestError
from tacit.metrics.accuracy import Slice
from tacit.wire.strict import brief


class Record(Protocol):
    """A row of a result file: a frozen dataclass of numbers, strings and nulls."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. Missing figures are null."""
        ...

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        ...


AnyRow = TypeVar("AnyRow", bound=Record)


def plain(row: Record) -> dict[str, Any]:
    """Return the values of a row. Missing figures are null."""
    values = asdict(row)
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in values.items()}


def checked(kind: type[Any], values: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """Validate the values of a row of `kind`. Nulls of `metrics` become NaN.

    Raises `DataError` for unknown or missing keys, and for a value of another type.
    """
    odd = sorted(set(values) ^ {field.name for field in fields(kind)})
    if odd:
        raise DataError(
            f"The key '{brief(odd[0])}' of a result row is missing or unknown; run the comparison "
            "again."
        )
    for field in fields(kind):
        if not _is_of(field.type, values[field.name]):
            raise DataError(
                f"The value {brief(values[field.name])!r} of '{field.name}' in a result row has "
                "the wrong type; run the comparison again."
            )
    absent = {key: float("nan") for key in metrics if values[key] is None}
    return {**values, **absent}


def _is_of(kind: Any, value: Any) -> bool:
    """Return whether a JSON value has the type of a field. Missing figures are null."""
    if options := get_args(kind):
        if get_origin(kind) is Literal:
            return value in options
        if get_origin(kind) is tuple:
            return isinstance(value, list)
        return any(_is_of(each, value) for each in options)
    if kind is float and (value is None or isinstance(value, float)):
        return True
    if kind in (int, float):
        return type(value) is int and abs(value) < MOST
    return isinstance(value, kind) and (kind is not str or _is_encodable(value))


def _is_encodable(text: str) -> bool:
    return text.encode(errors="replace").decode() == text


MOST = 1 << 63
"""Upper bound of 64-bit integers, exclusive."""
OPTIONAL = ("empty_epsilon", "items", "plugins", "cold_users", "ranked_by", "slices")
"""Keys that a row omits if they are None."""
TYPES: dict[Any, pl.DataType] = {
    float: pl.Float64(),
    float | None: pl.Float64(),
    int: pl.Int64(),
    int | None: pl.Int64(),
    bool | None: pl.Boolean(),
}
TYPES[tuple[Slice, ...] | None] = pl.List(
    pl.Struct({field.name: TYPES.get(field.type, pl.String()) for field in fields(Slice)})
)


def to_frame(rows: Sequence[Record], kind: type[Record]) -> pl.DataFrame:
    """Return rows as a polars frame, one column per field, without empty optional columns."""
    schema = {field.name: TYPES.get(field.type, pl.String()) for field in fields(kind)}
    frame = pl.DataFrame([row.to_dict() for row in rows], schema=schema)
    absent = [key for key in OPTIONAL if key in schema and frame[key].null_count() == len(frame)]
    return frame.drop(absent)


def save(rows: Sequence[Record], path: Path, kind: type[Record]) -> None:
    """Write the rows as JSON to `path` and as Parquet next to it, each atomically."""
    text = ",\n".join(json.dumps(row.to_dict(), allow_nan=False) for row in rows)
    write_atomically(path, f"[\n{text}\n]\n".encode())
    with atomic(path.with_suffix(".parquet")) as partial:
        to_frame(rows, kind).write_parquet(partial)


ROWS = (".parquet",)
"""Suffixes of files that are written next to the JSON of rows."""


def writable(*paths: Path | None, read: Sequence[object] = (), beside: Sequence[str] = ()) -> None:
    """Raise `RequestError` for an output that cannot be written, or that would replace an input or
    another output.

    `paths`: all outputs of a call, None for one that is not written. `read`: the inputs. Those that
    are not paths are ignored. `beside`: suffixes of files that are written next to the first of
    `paths`, and that must not replace a file that is not a result.
    """
    for path in filter(None, paths):
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise RequestError(f"{path} cannot be written; name a file in an existing folder.")
    main = paths[0]
    others = [] if main is None else [main.with_suffix(each) for each in beside]
    require_distinct([*filter(None, paths), *others], read)
    for target in others:
        if target.exists() and not _is_result(target):
            raise RequestError(
                f"{target} is not a result and would be overwritten, as it is written next to "
                f"{main}; choose another name for the result."
            )


MARKS = {
    ".toml": b"\n[compare]\n",
    ".json": b'"tacit-label-1"',
    ".html": b"<title>Label: ",
}
"""What identifies a result that is written next to another, by suffix."""


def _is_result(path: Path) -> bool:
    """Return whether a file was written next to a result. All tables of results have epsilons."""
    if not path.is_file():
        return False
    if path.suffix in MARKS:
        return MARKS[path.suffix] in path.read_bytes()
    try:
        return "epsilon" in pl.read_parquet_schema(path)
    except (OSError, pl.exceptions.PolarsError):
        return False
