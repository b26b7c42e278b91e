"""Parsers of the built-in file formats.

Netflix Prize: a line `movie:`, then `customer,rating,date` lines of that movie.

One movie per file in `mv_*.txt`, or several movies in `combined_data_*.txt`.

Jester: a matrix with one row per user: the number of ratings, then all jokes. 99 is missing.

Ratings are from -10 to 10 with two decimals. 0 is a rating.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from tacit.errors import DataError
from tacit.readers.format import ISO_TIME, Columns, DeclaredScale, Floats, Format, Request
from tacit.readers.frame import BROKEN, SCANS, decodable, read_lazy, require, scan
from tacit.readers.source import Source
from tacit.readers.text import (
    Delimited,
    UnsoundError,
    frames,
    rating_fault,
    reason,
    require_every_line,
    shown,
    sound,
    split,
)

# MovieLens without a header: `u.data` (100K) and `ratings.dat` with `::` (1M).

MOVIELENS_FIELDS = ("user", "item", "rating", "timestamp")
TABS = re.compile(rb"-?\d+\t-?\d+\t[\d.]+\t\d+\r?\n")
COLONS = re.compile(rb"-?\d+::-?\d+::[\d.]+::\d+\r?\n")


def _tabs(source: Source, request: Request) -> bool:
    return TABS.match(source.head) is not None


def _colons(source: Source, request: Request) -> bool:
    return COLONS.match(source.head) is not None


def _read_tabs(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("\t", MOVIELENS_FIELDS, request.grid))


def _read_colons(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("::", MOVIELENS_FIELDS, request.grid))


ML_100K = Format("movielens-100k", ("u.data",), _tabs, _read_tabs, scale="1:5:1")
ML_1M = Format("movielens-1m", ("ratings*.dat",), _colons, _read_colons, scale="1:5:1")


# Libimseti, a dating site: lines `user,profile,rating`, no header, ratings 1 to 10.

LIBIMSETI_LINE = re.compile(rb"\d+,\d+,\d+\r?\n")


def _looks_libimseti(source: Source, request: Request) -> bool:
    return LIBIMSETI_LINE.match(source.head) is not None


def _read_libimseti(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited(",", ("user", "item", "rating"), request.grid))


LIBIMSETI = Format(
    "libimseti", ("*libimseti*", "ratings.dat"), _looks_libimseti, _read_libimseti, scale="1:10:1"
)


# Netflix Prize.

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


# Jester.

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


# Tables with a header: csv, tsv, Parquet and Arrow IPC, and `ratings.csv` of MovieLens.

SEPARATORS = (",", "\t", ";", "|")
MOVIELENS = re.compile(rb"userId,movieId,rating,timestamp\r?\n")
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def _looks_table(source: Source, request: Request) -> bool:
    if _movielens(source, request):
        return False  # that format has a known scale
    magic = _magic(source)
    try:
        names = (
            scan(_stored(source), magic).collect_schema().names()
            if magic
            else _header(source.head)[1]
        )
    except BROKEN:
        return False
    return not request.missing(names)


def _movielens(source: Source, request: Request) -> bool:
    return MOVIELENS.match(source.head) is not None and request.columns == Columns()


def _header(head: bytes) -> tuple[str, list[str]]:
    """Return the separator and the names of the first line."""
    line = head.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    separator = max(SEPARATORS, key=line.count)
    return separator, split(line, separator)


def _read_table(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    (source,) = sources
    yield from (_read_binary if _magic(source) else _read_text)(source, request)


def _read_text(source: Source, request: Request) -> Iterator[pl.DataFrame]:
    separator, names = _header(source.head)
    require(source, names, request)
    renaming = request.renaming(names)
    fields = tuple(renaming.get(name) for name in names)
    yield from frames(source, _delimited(source.head, separator, fields, request), skip_lines=1)


def _delimited(
    head: bytes, separator: str, fields: Sequence[str | None], request: Request
) -> Delimited:
    """Return the parser of the lines, with formats inferred from the first of them."""
    lines = head.decode("utf-8", "replace").splitlines()[1:]
    lines = lines[:-1] if len(lines) > 1 else lines  # the last one may be truncated
    rows = [row for line in lines if len(row := split(line, separator)) == len(fields)]
    held = {name: [row[at].strip() for row in rows] for at, name in enumerate(fields) if name}
    ratings, times = held.get("rating", []), held.get("timestamp", [])
    return Delimited(
        separator,
        tuple(fields),
        request.grid,
        decimal_comma=separator != "," and any(map(DECIMAL_COMMA.fullmatch, ratings)),
        iso_times=bool(times) and all(map(ISO_TIME.fullmatch, times)),
    )


def _magic(source: Source) -> bytes:
    """Return the magic bytes of a binary file, empty for text."""
    return next((magic for magic in SCANS if source.head.startswith(magic)), b"")


def _stored(source: Source) -> Path | bytes:
    """Return the path of a Parquet or Arrow file, or its decompressed bytes."""
    if source.member is None and not source.path.name.lower().endswith(".gz"):
        return source.path
    with source.open() as file:
        return file.read()


def _read_binary(source: Source, request: Request) -> Iterator[pl.DataFrame]:
    try:
        lazy = decodable(_stored(source), _magic(source), source)
        yield from read_lazy(lazy, str(source), request)
    except BROKEN as error:
        why = reason(error)
        raise DataError(f"{source} cannot be read ({why}); write the file again.") from error


ML_CSV = Format("movielens-csv", ("ratings.csv",), _movielens, _read_table, scale="0.5:5:0.5")
TABLE = Format(
    "table",
    ("*.csv", "*.tsv", "*.txt", "*.parquet", "*.arrow", "*.ipc", "*.feather"),
    _looks_table,
    _read_table,
)
