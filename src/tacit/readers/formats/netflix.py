"""Netflix Prize: a line `movie:`, then `customer,rating,date` lines of that movie.

One movie per file in `mv_*.txt`, or several movies in `combined_data_*.txt`.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from tacit.errors import DataError
from tacit.readers.declared_scale import DeclaredScale
from tacit.readers.format import Format, Request
from tacit.readers.source import Source
from tacit.readers.text import (
    UnsoundError,
    frames,
    rating_fault,
    require_every_line,
    shown,
    sound,
)

NETFLIX_START = re.compile(rb"\d+:\r?\n\d+,")
# A block may start with a heading, and polars infers the number of fields from the first line.
WIDEST_LINE = b"0,0,1970-01-01\n"


def _looks_netflix(source: Source, request: Request) -> bool:
    return NETFLIX_START.match(source.head) is not None


@dataclass(frozen=True)
class Movies:
    """Rows of customer, rating and time. `item` is the movie in a heading, null in other rows."""

    grid: DeclaredScale | None

    def parse(self, data: bytes) -> pl.DataFrame:
        """Parse headings and ratings in file order. A heading has no rating."""
        raw = pl.read_csv(
            io.BytesIO(WIDEST_LINE + data),
            has_header=False,
            quote_char=None,
            schema={"user": pl.String(), "rating": pl.Float64(), "day": pl.Date()},
        )[1:]
        require_every_line(raw, data)
        heading = pl.col("user").str.ends_with(":")
        movie = pl.when(heading).then(pl.col("user").str.strip_suffix(":"))
        customer = pl.when(~heading).then(pl.col("user"))
        rows = raw.select(
            user=customer, item=movie, rating="rating", timestamp=pl.col("day").dt.epoch("s")
        )
        sound(rows.filter(rows["item"].is_null()).drop("item"), self.grid)
        headings = rows.filter(rows["item"].is_not_null())
        if headings["rating"].is_not_null().any() or headings["timestamp"].is_not_null().any():
            raise UnsoundError("a heading has a rating or a date")
        return rows

    def fault(self, line: str) -> str | None:
        """Return the fault of one line, heading or rating, or None."""
        fields = line.split(",")
        if len(fields) == 1 and line.endswith(":") and line[:-1].strip():
            return None
        if len(fields) != 3:
            return f"{shown(line)} is neither 'movie:' nor 'customer,rating,date'; correct the line"
        if not fields[0].strip():
            return "the customer is empty; correct the line"
        if fields[0].endswith(":"):
            return f"the customer {shown(fields[0])} ends in a colon, as a movie; correct the line"
        return rating_fault(fields[1], self.grid) or _day_fault(fields[2])


def _day_fault(text: str) -> str | None:
    try:
        date.fromisoformat(text)
    except ValueError:
        return f"date {shown(text)} is not a day such as 2005-09-06; correct the line"
    return None


def _read_netflix(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    for source in sources:
        movie: str | None = None
        for rows in frames(source, Movies(request.grid)):
            if movie is None and rows["item"][0] is None:
                raise DataError(f"{source}, line 1: the first line must be 'movie:'; add it.")
            filled = rows.with_columns(pl.col("item").forward_fill().fill_null(movie or ""))
            movie = str(filled["item"][-1])
            yield filled.filter(rows["item"].is_null())


NETFLIX = Format(
    "netflix",
    ("mv_*.txt", "combined_data_*.txt"),
    _looks_netflix,
    _read_netflix,
    scale="1:5:1",
    parts=True,
)
