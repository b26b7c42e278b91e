"""Jester: a matrix with one row per user: the number of ratings, then all jokes. 99 is missing.

Ratings are from -10 to 10 with two decimals. 0 is a rating.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tacit.readers.declared_scale import DeclaredScale, Floats
from tacit.readers.format import Format, Request
from tacit.readers.source import Source
from tacit.readers.text import (
    UnsoundError,
    frames,
    rating_fault,
    shown,
)

MISSING_JOKE = 99.0
FEWEST_JOKES = 2


@dataclass(frozen=True)
class Matrix:
    """Lines of `width` numbers: the count, then one number per joke."""

    width: int
    grid: DeclaredScale | None

    def parse(self, data: bytes) -> pl.DataFrame:
        """Parse the matrix, count first.

        Raises `UnsoundError` for a wrong count, or a rating off the scale.
        """
        schema = {f"{joke}": pl.Float64() for joke in range(self.width)}
        frame = pl.read_csv(io.BytesIO(data), has_header=False, schema=schema)
        matrix = frame.to_numpy()
        rated = matrix[:, 1:] != MISSING_JOKE
        if not (rated.sum(1) == matrix[:, 0]).all():
            raise UnsoundError("a count does not match its ratings")
        ratings = matrix[:, 1:][rated]
        if not (np.isfinite(ratings) if self.grid is None else self.grid.admits(ratings)).all():
            raise UnsoundError("a rating is off the scale")
        return frame

    def fault(self, line: str) -> str | None:
        """Return the fault of one user's line, or None."""
        count, *jokes = line.split(",")
        if len(jokes) != self.width - 1:
            return f"the line has {len(jokes) + 1} fields, expected {self.width}; correct the line"
        rated = [joke for joke in jokes if not _is_missing(joke)]
        faults = (rating_fault(joke, self.grid) for joke in rated)
        if fault := next((fault for fault in faults if fault), None):
            return fault
        if count.strip() != str(len(rated)):
            return f"the count {shown(count)} does not match the {len(rated)} ratings; correct it"
        return None


def _is_missing(joke: str) -> bool:
    try:
        return float(joke) == MISSING_JOKE
    except ValueError:
        return False


def _looks_jester(source: Source, request: Request) -> bool:
    count, *jokes = source.head.partition(b"\n")[0].decode("latin-1").split(",")
    rated = [joke for joke in jokes if not _is_missing(joke)]
    return len(jokes) >= FEWEST_JOKES and count.strip() == str(len(rated)) and "." in "".join(rated)


def _read_jester(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    people = 0
    for source in sources:
        width = source.head.partition(b"\n")[0].count(b",") + 1
        for frame in frames(source, Matrix(width, request.grid)):
            yield _rows(frame.to_numpy(), people)
            people += len(frame)


def _rows(matrix: Floats, people: int) -> pl.DataFrame:
    """Return the ratings of a matrix by row. Users and jokes are numbered from 1."""
    person, joke = np.nonzero(matrix[:, 1:] != MISSING_JOKE)
    return pl.DataFrame(
        {"user": person + people + 1, "item": joke + 1, "rating": matrix[person, joke + 1]}
    )


JESTER = Format(
    "jester",
    ("*jester*.csv",),
    _looks_jester,
    _read_jester,
    scale="-10:10:1",
    rounding="nearest",
    parts=True,
)
