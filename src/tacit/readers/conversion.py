"""Conversion of paths, frames, Arrow tables and arrays to `Ratings`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tacit.errors import DataError, RequestError
from tacit.ratings import Ratings
from tacit.readers.declared import Declared
from tacit.readers.format import NAMES, Notify
from tacit.readers.levels import Rounding
from tacit.readers.reading import from_frame, read
from tacit.scale import RatingScale

KINDS = (
    "a path, a polars or pandas frame, an Arrow table, a tuple of arrays (user, item, rating), or "
    "Ratings"
)


def as_ratings(
    data: object,
    *,
    scale: RatingScale | str | None = None,
    columns: Mapping[str, str] | None = None,
    rounding: Rounding | None = None,
    catalogue: Declared | None = None,
    people: Declared | None = None,
    held_out: str | None = None,
    positive_only: bool = False,
    format: str | None = None,
    name: str = "frame",
    notify: Notify | None = None,
) -> Ratings:
    """Convert a path, a polars or pandas frame, an Arrow table, or a tuple of arrays to `Ratings`.

    A tuple contains users, items and optionally ratings and Unix seconds, each of shape (n,).
    `Ratings` are returned unchanged. The options are those of `read`. `name`: of data without a
    file. Raises `DataError` for invalid data, and `RequestError` for other objects and for options
    that do not apply to them.

    >>> as_ratings(([1, 1, 2], ["a", "b", "a"], [4, 2, 5]), scale="1:5:1")
    <Ratings frame: 3 by 2 people of 2 items, scale 1:5:1>
    """
    options: dict[str, Any] = {
        "scale": scale,
        "columns": columns,
        "rounding": rounding,
        "catalogue": catalogue,
        "people": people,
        "held_out": held_out,
        "positive_only": positive_only,
    }
    if isinstance(data, Ratings):
        return _as_they_are(data, options | {"format": format})
    chosen = {option: value for option, value in options.items() if value not in (None, False)}
    if isinstance(data, str | Path):
        if not Path(data).exists():
            raise DataError(f"The path {data} does not exist; pass {KINDS}.")
        return read(data, format=format, notify=notify, **chosen)
    if format is not None:
        raise RequestError(f"format applies to files only, got {format}; leave it out.")
    return from_frame(_frame(data), name=name, notify=notify, **chosen)


def _as_they_are(ratings: Ratings, options: Mapping[str, Any]) -> Ratings:
    scale = options["scale"]
    conflicts = [
        option
        for option, value in options.items()
        if value not in (None, False)
        and not (option == "scale" and str(scale) == str(ratings.scale))
    ]
    if conflicts:
        raise RequestError(
            f"data is already Ratings, on the scale {ratings.scale}; leave out {conflicts[0]}."
        )
    return ratings


def _frame(data: Any) -> Any:
    """Return an input of `from_frame`. Raises `RequestError` for data without columns."""
    if isinstance(data, pl.DataFrame | pl.LazyFrame) or hasattr(data, "iloc"):
        return data
    try:
        if isinstance(data, tuple | list):
            return _of_arrays(data)  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__"):
            return pl.DataFrame(data)  # pyright: ignore[reportUnknownArgumentType]
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0][:120]
        raise DataError(f"The columns cannot be read ({reason}); pass {KINDS}.") from error
    raise RequestError(f"data must be {KINDS}, got {type(data).__name__}.")


def _of_arrays(columns: Sequence[Any]) -> pl.DataFrame:
    rows = isinstance(columns, list) and all(isinstance(one, tuple) for one in columns)
    if rows or not 2 <= len(columns) <= len(NAMES) or any(isinstance(c, str) for c in columns):
        raise RequestError(
            "data must be a tuple of arrays (user, item, rating), optionally "
            f"followed by a time in Unix seconds, got a {type(columns).__name__} of "
            f"{len(columns)}{' tuples, which are rows' if rows else ''}."
        )
    series = [
        pl.Series(name, column.tolist() if hasattr(column, "tolist") else list(column))
        for name, column in zip(NAMES, columns, strict=False)
    ]
    if len({len(one) for one in series}) > 1:
        lengths = ", ".join(f"{len(one)} of {one.name}" for one in series)
        raise RequestError(f"The columns must have the same length, got {lengths}.")
    return pl.DataFrame(series)
