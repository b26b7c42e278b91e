"""Ratings from files and frames: format detection, parsing and scale checks."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tacit.errors import DataError, RequestError
from tacit.errors import path as given_path
from tacit.ratings import Ratings
from tacit.readers.declared import Declared, declare
from tacit.readers.declared_scale import DeclaredScale, Rounding
from tacit.readers.format import NAMES, ColumnNames, Columns, Notify, Request
from tacit.readers.formats.detect import Candidate, detect
from tacit.readers.formats.sparse import of_sparse
from tacit.readers.frame import as_lazy, read_lazy
from tacit.readers.gather import gather
from tacit.scale import RatingScale

ROUNDINGS = ("nearest", "stochastic")
PLAIN_NAMES = ("u", "ratings", "data")


def read(
    path: str | Path,
    *,
    format: str | None = None,
    scale: RatingScale | str | None = None,
    columns: ColumnNames | None = None,
    rounding: Rounding | None = None,
    catalogue: Declared | None = None,
    people: Declared | None = None,
    held_out: str | None = None,
    positive_only: bool = False,
    rng: int = 0,
    name: str | None = None,
    notify: Notify | None = None,
) -> Ratings:
    """Read ratings from a file, a folder or an archive, in any format of `FORMATS`.

    `scale`: the public scale. By default that of the format, or one inferred with a notice. A table
    with only user and item (and optionally time) contains interactions, on the scale "there". With
    that scale, ratings or weights of other tables are ignored, with a notice. The scale "counts:5"
    reads counts of interactions as levels of 1:5:1: the counts of a (user, item) pair are added, a
    row without one counts as 1, and 5 stands for all higher sums. `positive_only`: drop
    interactions whose weight is 0 or below, which are rejected otherwise. `held_out`: the column of
    a table that marks the test rows of a published split. `columns`: `{"user": "member", ..}` for
    tables, or positions from 1, as in (1, 2, 3), for a file without a header. `rounding`: of
    ratings between two levels, "nearest" or "stochastic" (with `rng`). By default Jester's are
    rounded to the nearest level and others are rejected. `catalogue`, `people`: all items and all
    participating users, as ids or a file of ids. Ratings of others are dropped, with a notice.
    Undeclared lists are inferred from the ratings, and guarantees state that they do not cover
    this.

    Raises `DataError` for invalid data, with the file, the line and the value, and `RequestError`
    for an invalid scale, format or column.
    """
    file = given_path(path)
    warn = notify or logging.getLogger("tacit.readers").warning
    wanted = Columns.of(columns)
    declared = _grid(scale, rounding)
    candidate = detect(file, format, Request(declared, wanted, held_out))
    grid = declared or _format_scale(candidate, rounding, is_declared=format is not None)
    grid = _format_rounding(grid, candidate)
    if grid and grid.rounding and not grid.scale.has_one_level:
        warn(f"{file}: ratings are rounded ({grid.rounding}) to the scale {grid.scale}.")
    frames = candidate.format.frames(candidate.sources, Request(grid, wanted, held_out))
    label = name or _label(file)
    ratings = gather(
        frames,
        grid,
        name=label,
        where=str(file),
        rng=rng,
        notify=warn,
        positive_only=positive_only,
        may_be_empty=all(value is not None for value in (catalogue, people, declared)),
    )
    if held_out is not None and ratings.held_out is None:
        raise DataError(
            f"{file} is read as {candidate.format.name}, which has no held-out column {held_out}; "
            "use a table with a header, or another split."
        )
    return declare(ratings, catalogue, people, warn)


def from_frame(
    frame: Any,
    *,
    scale: RatingScale | str | None = None,
    columns: ColumnNames | None = None,
    rounding: Rounding | None = None,
    catalogue: Declared | None = None,
    people: Declared | None = None,
    held_out: str | None = None,
    positive_only: bool = False,
    rng: int = 0,
    name: str = "frame",
    notify: Notify | None = None,
) -> Ratings:
    """Read ratings from a polars (lazy) or pandas frame. Options and errors as `read`.

    Also raises `RequestError` for positions of columns.
    """
    warn = notify or logging.getLogger("tacit.readers").warning
    grid = _grid(scale, rounding)
    if isinstance(columns, tuple | list):
        raise RequestError("columns of a frame must be names, not positions; pass a mapping.")
    frames: Iterator[pl.DataFrame] = read_lazy(
        as_lazy(frame), name, Request(grid, Columns.of(columns), held_out)
    )
    ratings = gather(
        frames,
        grid,
        name=name,
        where=name,
        rng=rng,
        notify=warn,
        positive_only=positive_only,
        may_be_empty=all(value is not None for value in (catalogue, people, scale)),
    )
    return declare(ratings, catalogue, people, warn)


def _grid(scale: RatingScale | str | None, rounding: Rounding | None) -> DeclaredScale | None:
    if rounding is not None and rounding not in ROUNDINGS:
        raise RequestError(f"rounding must be one of {', '.join(ROUNDINGS)}, got '{rounding}'.")
    if scale is None:
        return None
    if isinstance(scale, RatingScale):
        return DeclaredScale(scale, rounding)
    return DeclaredScale.parse(scale, rounding)


def _format_scale(
    candidate: Candidate, rounding: Rounding | None, *, is_declared: bool
) -> DeclaredScale | None:
    """Return the scale of the format if it was declared or the files have its usual names.

    The columns do not determine the scale: other data sets have the same ones.
    """
    if not is_declared and not all(candidate.format.named(source) for source in candidate.sources):
        return _grid(None, rounding)
    return _grid(candidate.format.scale, rounding or candidate.format.rounding)


def _format_rounding(grid: DeclaredScale | None, candidate: Candidate) -> DeclaredScale | None:
    if grid is None or grid.counts or grid.rounding is not None:
        return grid
    return DeclaredScale(grid.scale, candidate.format.rounding)


def _label(path: Path) -> str:
    stem = path.name.partition(".")[0]
    return path.absolute().parent.name if stem in PLAIN_NAMES and path.is_file() else stem


# Conversion of paths, frames, Arrow tables and arrays to `Ratings`.

KINDS = (
    "a path, a polars or pandas frame, an Arrow table, a tuple of arrays (user, item, rating), a "
    "sparse matrix, or Ratings"
)


def as_ratings(
    data: object,
    *,
    scale: RatingScale | str | None = None,
    columns: ColumnNames | None = None,
    rounding: Rounding | None = None,
    catalogue: Declared | None = None,
    people: Declared | None = None,
    held_out: str | None = None,
    positive_only: bool = False,
    format: str | None = None,
    name: str = "frame",
    notify: Notify | None = None,
) -> Ratings:
    """Convert a path, a frame, an Arrow table, a sparse matrix or a tuple of arrays to `Ratings`.

    A sparse SciPy matrix has a row per user and a column per item, numbered from 0. A tuple
    contains users, items and optionally ratings and Unix seconds, each of shape (n,). `Ratings` are
    returned unchanged. The options are those of `read` but `rng`, which is 0. `name`: of data
    without a file. Raises `DataError` for invalid data, and `RequestError` for other objects and
    for options that do not apply to them.

    >>> as_ratings(([1, 1, 2], ["a", "b", "a"], [4, 2, 5]), scale="1:5:1")
    <Ratings frame: 3 by 2 users of 2 items, scale 1:5:1>
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
    chosen = {option: value for option, value in options.items() if _is_set(value)}
    if isinstance(data, str | Path):
        if not Path(data).exists():
            raise DataError(f"The path {data} does not exist; pass {KINDS}.")
        return read(data, format=format, notify=notify, **chosen)
    if format is not None:
        raise RequestError(f"format applies to files only, got {format}; leave it out.")
    return from_frame(_frame(data), name=name, notify=notify, **chosen)


def _is_set(value: object) -> bool:
    """Whether an option differs from its default; a column of ids has no truth value."""
    return value is not None and value is not False


def _as_they_are(ratings: Ratings, options: Mapping[str, Any]) -> Ratings:
    scale = options["scale"]
    conflicts = [
        option
        for option, value in options.items()
        if _is_set(value) and not (option == "scale" and str(scale) == str(ratings.scale))
    ]
    if conflicts:
        raise RequestError(
            f"data is already a Ratings object, on the scale {ratings.scale}; leave out "
            f"{conflicts[0]}."
        )
    return ratings


def _frame(data: Any) -> Any:
    """Return an input of `from_frame`. Raises `RequestError` for data without columns."""
    if isinstance(data, pl.DataFrame | pl.LazyFrame) or hasattr(data, "iloc"):
        return data
    try:
        if hasattr(data, "tocoo"):
            return of_sparse(data)
        if isinstance(data, tuple | list):
            return _of_arrays(data)  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__"):
            return pl.DataFrame(data)  # pyright: ignore[reportUnknownArgumentType]
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0][:120]
        raise DataError(f"The columns cannot be read ({reason}); pass {KINDS}.") from error
    raise RequestError(f"data must be {KINDS}, got {type(data).__name__}.")


def _of_arrays(columns: Sequence[Any]) -> pl.DataFrame:
    rows = isinstance(columns, list) and all(isinstance(one, tuple | list) for one in columns)
    if rows or not 2 <= len(columns) <= len(NAMES) or any(isinstance(c, str) for c in columns):
        raise RequestError(
            "data must be a tuple of arrays (user, item, rating), optionally "
            f"followed by a time in Unix seconds, got a {type(columns).__name__} of "
            f"{len(columns)}{' rows' if rows else ''}."
        )
    series = [
        pl.Series(name, column.tolist() if hasattr(column, "tolist") else list(column))
        for name, column in zip(NAMES, columns, strict=False)
    ]
    if len({len(one) for one in series}) > 1:
        lengths = ", ".join(f"{len(one)} of {one.name}" for one in series)
        raise RequestError(f"The columns must have the same length, got {lengths}.")
    return pl.DataFrame(series)
