"""Pivot tables: one row per user and one column per item, with an empty cell for no rating.

The first column contains the users. The header contains a name for them, or nothing, and the items.
The format is not detected, because any header could be items.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tacit.errors import DataError, RequestError
from tacit.readers.declared_scale import DeclaredScale
from tacit.readers.format import Columns, Format, Request
from tacit.readers.formats.table import header
from tacit.readers.source import Source
from tacit.readers.text import (
    UnsoundError,
    count_lines,
    frames,
    missing,
    rating_fault,
    require_every_line,
    shown,
    split,
)

NO_RATING = ("", "nan", "NaN")
"""Contents of a cell without a rating, as pandas and NumPy write it."""


@dataclass(frozen=True)
class PivotRows:
    """Lines of a user and one cell per item."""

    separator: str
    items: tuple[str, ...]
    grid: DeclaredScale | None

    def parse(self, data: bytes) -> pl.DataFrame:
        """Parse the ratings of a block, by row, with ids as strings.

        Raises `UnsoundError` for a row without a user, or a rating off the scale.
        """
        cells = [f"{number}" for number in range(len(self.items))]
        frame = pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            separator=self.separator,
            schema={"user": pl.String(), **dict.fromkeys(cells, pl.Float64())},
            null_values=list(NO_RATING),
        )
        require_every_line(frame, data)
        self._require_every_cell(data)
        if missing(frame["user"]).any():
            raise UnsoundError("a row has no user")
        matrix = frame.select(cells).to_numpy()
        rated = ~np.isnan(matrix)
        ratings = matrix[rated]
        if not (np.isfinite(ratings) if self.grid is None else self.grid.admits(ratings)).all():
            raise UnsoundError("a rating is off the scale")
        rows, columns = np.nonzero(rated)
        items = pl.Series(self.items, dtype=pl.String).gather(columns)
        return pl.DataFrame({"user": frame["user"].gather(rows), "item": items, "rating": ratings})

    def _require_every_cell(self, data: bytes) -> None:
        """Raise `UnsoundError` for a line with fewer cells, which polars reads as empty ones."""
        separators = data.count(self.separator.encode())
        if b'"' in data:
            lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
            separators = sum(len(split(line, self.separator)) - 1 for line in lines)
        if separators != count_lines(data) * len(self.items):
            raise UnsoundError("a line has too few fields")

    def fault(self, line: str) -> str | None:
        """Return the fault of one user's line, or None."""
        user, *cells = split(line, self.separator)
        if len(cells) != len(self.items):
            return (
                f"the line has {len(cells) + 1} fields, expected {len(self.items) + 1}; correct "
                "the line"
            )
        if not user.strip():
            return "the user is empty; correct or remove the line"
        rated = (cell.strip() for cell in cells if cell.strip() not in NO_RATING)
        return next((fault for cell in rated if (fault := rating_fault(cell, self.grid))), None)


def _read_pivot(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    if request.columns != Columns():
        raise RequestError("columns apply to other formats than pivot; leave them out.")
    (source,) = sources
    first = next(source.blocks()).data  # a header of many items is longer than `head`
    separator, (_, *items) = header(first, request)
    named = [item.strip() for item in items]
    twice = next((item for item in named if named.count(item) > 1), None)
    if twice is not None or not all(named):
        fault = "an item has no name" if twice is None else f"item {shown(twice)} occurs twice"
        raise DataError(f"{source}, line 1: {fault}; give each column its own item.")
    yield from frames(source, PivotRows(separator, tuple(named), request.grid), skip_lines=1)


PIVOT = Format("pivot", (), lambda source, request: False, _read_pivot)
