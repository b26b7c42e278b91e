"""Ratings of a file or a frame: the format is found, the rows gathered, the scale checked."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tacit.errors import DataError, RequestError
from tacit.given import path as given_path
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
    """Ratings from a file, a folder or an archive, in any format of `FORMATS`.

    `scale`: the public scale; without it the format's own, or one inferred with a notice. A table
    of person and item alone (and perhaps time) holds interactions, on the scale "there"; so does
    any other where that scale is given: ratings or weights are then ignored, with a notice.
    `positive_only`: drop interactions whose weight is 0 or below, which are rejected otherwise.
    `held_out`: the column of a table that says what a published split keeps for the test.
    `columns`: `{"user": "member", ..}` for tables. `rounding`: what becomes of a rating between
    two levels ("nearest", "stochastic" with `rng`); without it Jester's are rounded to the
    nearest and any other is refused. `catalogue`, `people`: ids, or a file that lists them, of all
    items and of everybody who takes part; ratings of others are dropped, with a notice. What is not
    declared is taken from the ratings, and guarantees say that they do not cover it.

    Raises `DataError` with the file, the line and the value when the data are wrong, and
    `RequestError` when the scale, the format or a column is not one.
    """
    place = given_path(path)
    warn = notify or logging.getLogger("tacit.readers").warning
    wanted = Columns.of(columns)
    declared = _grid(scale, rounding)
    found = detect(place, format, Request(declared, wanted, held_out))
    grid = declared or _format_scale(found, rounding, is_declared=format is not None)
    grid = _own_rounding(grid, found)
    if grid and grid.rounding and not grid.scale.has_one_level:
        warn(f"{place}: ratings are rounded ({grid.rounding}) to the scale {grid.scale}.")
    frames = found.format.frames(found.sources, Request(grid, wanted, held_out))
    label = name or _label(place)
    ratings = gather(
        frames,
        grid,
        name=label,
        where=str(place),
        rng=rng,
        notify=warn,
        positive_only=positive_only,
        may_be_empty=all(given is not None for given in (catalogue, people, declared)),
    )
    if held_out is not None and ratings.held_out is None:
        raise DataError(
            f"{place} is read as {found.format.name}, which has no held-out column {held_out}; "
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
    """Ratings from a polars (lazy) or pandas frame; options and errors as those of `read`."""
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
        may_be_empty=all(given is not None for given in (catalogue, people, scale)),
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
    found: Candidate, rounding: Rounding | None, *, is_declared: bool
) -> DeclaredScale | None:
    """Return the scale of the format if it was declared or the files have its usual names.

    The columns do not determine the scale: other data sets have the same ones.
    """
    if not is_declared and not all(found.format.named(source) for source in found.sources):
        return _grid(None, rounding)
    return _grid(found.format.scale, rounding or found.format.rounding)


def _own_rounding(grid: DeclaredScale | None, found: Candidate) -> DeclaredScale | None:
    if grid is None or grid.rounding is not None:
        return grid
    return DeclaredScale(grid.scale, found.format.rounding)


def _label(path: Path) -> str:
    stem = path.name.partition(".")[0]
    return path.absolute().parent.name if stem in PLAIN_NAMES and path.is_file() else stem
