"""Tables with a header: csv, tsv, Parquet, Arrow IPC, and frames already in memory."""

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from tacit.errors import DataError
from tacit.readers.delimited import Delimited
from tacit.readers.format import Columns, Format, Request
from tacit.readers.gather import ROWS
from tacit.readers.levels import DeclaredScale
from tacit.readers.source import Source
from tacit.readers.text import frames, rating_fault, reason, shown, split

SEPARATORS = (",", "\t", ";", "|")
PARQUET, ARROW = b"PAR1", b"ARROW1"
BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What a damaged file is to polars."""
PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})")


def _looks(source: Source, request: Request) -> bool:
    binary = source.head.startswith((PARQUET, ARROW))
    try:
        names = _stored(source).collect_schema().names() if binary else _header(source.head)[1]
    except BROKEN:
        return False
    return not request.columns.missing(names)


def _header(head: bytes) -> tuple[str, list[str]]:
    """The separator and the names of the first line."""
    line = head.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    separator = max(SEPARATORS, key=line.count)
    return separator, split(line, separator)


def _read(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    (source,) = sources
    binary = source.head.startswith((PARQUET, ARROW))
    yield from (_read_binary if binary else _read_text)(source, request)


def _read_text(source: Source, request: Request) -> Iterator[pl.DataFrame]:
    separator, names = _header(source.head)
    _require(source, names, request.columns)
    renaming = request.columns.renaming(names)
    fields = tuple(renaming.get(name) for name in names)
    text = _text(source.head, separator, fields)
    yield from frames(source, Delimited(separator, fields, request.grid, text), skip_lines=1)


def _text(head: bytes, separator: str, fields: Sequence[str | None]) -> frozenset[str]:
    """The id columns that hold anything but plain whole numbers in the first lines."""
    lines = head.decode("utf-8", "replace").splitlines()[1:]
    lines = lines[:-1] if len(lines) > 1 else lines  # the last may be cut short
    rows = [row for line in lines if len(row := split(line, separator)) == len(fields)]
    ids = {name: fields.index(name) for name in ("user", "item")}
    return frozenset(
        name
        for name, place in ids.items()
        if not all(PLAIN_NUMBER.fullmatch(row[place].strip()) for row in rows)
    )


def _stored(source: Source) -> pl.LazyFrame:
    """A Parquet or Arrow file, scanned where it lies; unpacked into memory when it is packed."""
    plain = source.member is None and not source.path.name.lower().endswith(".gz")
    with source.open() as file:
        stored = source.path if plain else io.BytesIO(file.read())
    return (pl.scan_parquet if source.head.startswith(PARQUET) else pl.scan_ipc)(stored)


def _read_binary(source: Source, request: Request) -> Iterator[pl.DataFrame]:
    try:
        yield from read_lazy(_stored(source), str(source), request)
    except BROKEN as error:
        why = reason(error)
        raise DataError(f"{source} cannot be read ({why}); write the file again.") from error


def read_lazy(lazy: pl.LazyFrame, where: str, request: Request) -> Iterator[pl.DataFrame]:
    """The rows of any polars table, a million at a time; raises `DataError` naming the row."""
    schema = lazy.collect_schema()
    _require(where, schema.names(), request.columns)
    renaming = request.columns.renaming(schema.names())
    wanted = [
        pl.col(theirs).cast(_kind(schema[theirs], ours, theirs, where)).alias(ours)
        if not isinstance(schema[theirs], pl.Datetime)
        else pl.col(theirs).dt.epoch("s").alias(ours)
        for theirs, ours in renaming.items()
    ]
    row = 1
    for frame in lazy.select(wanted).collect_batches(chunk_size=ROWS, maintain_order=True):
        _check(frame, row, where, request.grid)
        row += len(frame)
        yield frame


def _kind(dtype: pl.DataType, ours: str, theirs: str, where: str) -> pl.DataType:
    """What a column is cast to; raises `DataError` for a type that cannot hold such values."""
    if ours == "rating" and dtype.is_numeric():
        return pl.Float64()
    if ours in ("user", "item", "timestamp") and dtype.is_integer():
        return pl.Int64()
    if ours in ("user", "item") and isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return pl.String()
    needs = {"rating": "numbers", "timestamp": "whole Unix seconds"}.get(
        ours, "whole numbers or text"
    )
    raise DataError(f"{where}: column '{theirs}' is {dtype}; it needs to be {needs}.")


def _check(frame: pl.DataFrame, row: int, where: str, grid: DeclaredScale | None) -> None:
    for name in frame.columns:
        if frame[name].null_count():
            place = row + int(frame[name].is_null().arg_max() or 0)
            raise DataError(f"{where}, row {place}: the {name} is missing; fill or drop the row.")
    ratings = frame["rating"].to_numpy()
    admitted = np.isfinite(ratings) if grid is None else grid.admits(ratings)
    if not admitted.all():
        at = int(np.argmin(admitted))
        value = f"{ratings[at]:g}"
        fault = rating_fault(value, grid) or f"rating {shown(value)} is off the scale"
        raise DataError(f"{where}, row {row + at}: {fault}.")


def _require(where: object, names: Sequence[str], columns: Columns) -> None:
    if missing := columns.missing(names):
        raise DataError(
            f"{where}, line 1: there is no column {shown(missing[0])} among "
            f"{shown(', '.join(names))}; name the columns, as in {_ours(missing[0], columns)}=NAME."
        )


def _ours(theirs: str, columns: Columns) -> str:
    return columns.renaming([theirs])[theirs]


def as_lazy(frame: Any) -> pl.LazyFrame:
    """A polars or pandas frame, or anything with named columns, as a polars lazy frame."""
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    columns = {str(name): np.asarray(frame[name]) for name in frame.columns}
    return pl.DataFrame({name: _series(name, values) for name, values in columns.items()}).lazy()


def _series(name: str, values: Any) -> pl.Series:
    # An object column is text to pandas; a list lets polars see what it really holds.
    return pl.Series(name, values.tolist() if values.dtype == object else values)


TABLE = Format(
    "table",
    ("*.csv", "*.tsv", "*.txt", "*.parquet", "*.arrow", "*.ipc", "*.feather"),
    _looks,
    _read,
)
