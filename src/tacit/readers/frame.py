"""Rows of frames and of files that polars scans, in order, in batches of a million."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from tacit.errors import DataError, RequestError
from tacit.readers.format import Request
from tacit.readers.formats.times import EXAMPLES, unix_seconds
from tacit.readers.gather import ROWS
from tacit.readers.levels import DeclaredScale
from tacit.readers.text import missing, rating_fault, shown
from tacit.scale import THERE


def read_lazy(lazy: pl.LazyFrame, where: str, request: Request) -> Iterator[pl.DataFrame]:
    """Yield the rows of a polars table in batches of a million. Raises `DataError` with the row."""
    schema = lazy.collect_schema()
    require(where, schema.names(), request)
    renaming = request.renaming(schema.names())
    wanted = [
        _read_as(schema[theirs], ours, theirs, where).alias(ours)
        for theirs, ours in renaming.items()
        if ours != "rating" or theirs == request.columns.rating or schema[theirs] != pl.Boolean
    ]
    row = 1
    for frame in lazy.select(wanted).collect_batches(chunk_size=ROWS, maintain_order=True):
        _check(frame, row, where, request.grid)
        row += len(frame)
        yield frame.cast({"held_out": pl.Boolean()}) if "held_out" in frame.columns else frame


def _read_as(dtype: pl.DataType, ours: str, theirs: str, where: str) -> pl.Expr:
    """Return the expression of a column, with times converted to Unix seconds."""
    if ours == "timestamp" and isinstance(dtype, pl.Datetime | pl.Date):
        return pl.col(theirs).dt.epoch("s")
    if ours == "timestamp" and isinstance(dtype, pl.String):
        return unix_seconds(theirs)
    return pl.col(theirs).cast(_kind(dtype, ours, theirs, where))


def _kind(dtype: pl.DataType, ours: str, theirs: str, where: str) -> pl.DataType:
    """Return the type to cast a column to. Raises `DataError` for an unsuitable type."""
    if ours == "rating" and dtype.is_numeric():
        return pl.Float64()
    if ours == "held_out" and (dtype.is_integer() or dtype == pl.Boolean):
        return pl.Int64()
    if ours in ("user", "item") and dtype.is_integer():
        return dtype
    if ours == "timestamp" and dtype.is_integer():
        return pl.Int64()
    if ours in ("user", "item") and isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return pl.String()
    needs = {
        "rating": "numbers",
        "timestamp": "integer Unix seconds, dates or times",
        "held_out": "0 and 1, or true and false",
    }.get(ours, "integers or text")
    raise DataError(f"{where}: column '{theirs}' must contain {needs}, got {dtype}.")


def _check(frame: pl.DataFrame, row: int, where: str, grid: DeclaredScale | None) -> None:
    for name in frame.columns:
        if (absent := missing(frame[name])).any():
            first = row + int(absent.arg_max() or 0)
            fault = (
                f"missing, or not a date such as {EXAMPLES}" if name == "timestamp" else "missing"
            )
            raise DataError(f"{where}, row {first}: the {name} is {fault}; fill or drop the row.")
    if "held_out" in frame.columns and not (held := frame["held_out"].is_between(0, 1)).all():
        raise DataError(
            f"{where}, row {row + int(held.arg_min() or 0)}: the held-out column must contain 0 "
            "or 1; correct the row."
        )
    if "rating" not in frame.columns:
        return
    ratings = frame["rating"].to_numpy()
    admitted = np.isfinite(ratings) if grid is None else grid.admits(ratings)
    if not admitted.all():
        at = int(np.argmin(admitted))
        value = f"{ratings[at]:g}"
        fault = rating_fault(value, grid) or f"rating {shown(value)} is off the scale"
        raise DataError(f"{where}, row {row + at}: {fault}.")


def require(where: object, names: list[str], request: Request) -> None:
    """Raise `DataError` unless a table with these names has the required columns, each once."""
    if twice := [name for name in request.renaming(names) if names.count(name) > 1]:
        raise DataError(
            f"{where}, line 1: column {shown(twice[0])} occurs {names.count(twice[0])} times; "
            "rename the duplicates."
        )
    if missing := request.missing(names):
        absent = ", ".join(map(shown, missing))
        raise DataError(
            f"{where}, line 1: {'column' if len(missing) == 1 else 'columns'} {absent} must be "
            f"among {shown(', '.join(names))}; {_remedy(missing, request)}."
        )


def _remedy(missing: Sequence[str], request: Request) -> str:
    """Return the remedy for all missing columns at once."""
    ours = request.columns.renaming(missing).values()
    parts = ["name the held-out column"] if request.held_out in missing else []
    if ours:
        parts.append(f"name the columns, as in {','.join(f'{name}=NAME' for name in ours)}")
    if "rating" in ours:
        parts.append(f"or declare the scale {THERE} where a row is an interaction")
    return ", ".join(parts)


def as_lazy(frame: Any) -> pl.LazyFrame:
    """Convert a polars or pandas frame, or another object with named columns, to a lazy frame.

    Raises `RequestError` for an object without columns.
    """
    if isinstance(frame, pl.LazyFrame):
        return frame
    if not hasattr(frame, "columns"):
        raise RequestError(
            f"Expected a polars or pandas frame, got {type(frame).__name__}; `tacit.as_ratings` "
            "also takes paths and arrays."
        )
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    columns = {str(name): np.asarray(frame[name]) for name in frame.columns}
    return pl.DataFrame({name: _series(name, values) for name, values in columns.items()}).lazy()


def _series(name: str, values: Any) -> pl.Series:
    """Convert a column. Raises `DataError` if its values have several types."""
    # pandas stores text as an object column. From a list, polars infers the actual type.
    data = values.tolist() if values.dtype == object else values
    try:
        return pl.Series(name, data)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        kinds = ", ".join(sorted({type(one).__name__ for one in data}))
        raise DataError(
            f"frame: column {name!r} has mixed types ({kinds}); convert it to one type."
        ) from error
