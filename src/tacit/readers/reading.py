"""Ratings from files and frames: format detection, parsing and scale checks."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tacit.errors import DataError, RequestError
from tacit.errors import path as given_path
from tacit.ratings import Ratings
from tacit.readers.declared import Declared, declare
from tacit.readers.detect import Candidate, detect
from tacit.readers.format import Columns, Notify, Request
from tacit.readers.frame import as_lazy, read_lazy
from tacit.readers.gather import gather
from tacit.readers.levels import DeclaredScale, Rounding
from tacit.scale import RatingScale

ROUNDINGS = ("nearest", "stochastic")
PLAIN_NAMES = ("u", "ratings", "data")


def read(
    path: str | Path,
    *,
    format: str | None = None,
    scale: RatingScale | str | None = None,
    columns: Mapping[str, str] | None = None,
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
    that scale, ratings or weights of other tables are ignored, with a notice. `positive_only`: drop
    interactions whose weight is 0 or below, which are rejected otherwise. `held_out`: the column of
    a table that marks the test rows of a published split. `columns`: `{"user": "member", ..}` for
    tables. `rounding`: of ratings between two levels, "nearest" or "stochastic" (with `rng`). By
    default Jester's are rounded to the nearest level and others are rejected. `catalogue`,
    `people`: all items and all participating users, as ids or a file of ids. Ratings of others are
    dropped, with a notice. Undeclared lists are inferred from the ratings, and guarantees state
    that they do not cover this.

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
    columns: Mapping[str, str] | None = None,
    rounding: Rounding | None = None,
    catalogue: Declared | None = None,
    people: Declared | None = None,
    held_out: str | None = None,
    positive_only: bool = False,
    rng: int = 0,
    name: str = "frame",
    notify: Notify | None = None,
) -> Ratings:
    """Read ratings from a polars (lazy) or pandas frame. Options and errors as `read`."""
    warn = notify or logging.getLogger("tacit.readers").warning
    grid = _grid(scale, rounding)
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
    grid = scale if isinstance(scale, RatingScale) else RatingScale.parse(scale)
    return DeclaredScale(grid, rounding)


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
    if grid is None or grid.rounding is not None:
        return grid
    return DeclaredScale(grid.scale, candidate.format.rounding)


def _label(path: Path) -> str:
    stem = path.name.partition(".")[0]
    return path.absolute().parent.name if stem in PLAIN_NAMES and path.is_file() else stem
