"""Tables: csv, tsv, Parquet, Arrow IPC, `ratings.csv` of MovieLens, and RecBole's `.inter`.

Without a header, the columns are numbered from 1 (`Columns.are_positions`). The header of an
`.inter` file has a type with each name, as in `user_id:token`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.readers.format import ISO_TIME, Columns, Format, Request
from tacit.readers.frame import BROKEN, SCANS, decodable, read_lazy, require, scan
from tacit.readers.source import Source
from tacit.readers.text import Delimited, finite, frames, reason, split

SEPARATORS = (",", "\t", ";", "|")
MOVIELENS = re.compile(rb"userId,movieId,rating,timestamp\r?\n")
RECBOLE_HEADER = re.compile(rb"[^\t\r\n:]+:(token|float)(_seq)?(\t|\r?\n)")
RECBOLE_COLUMNS = Columns(user="user_id", item="item_id")
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def _looks_table(source: Source, request: Request) -> bool:
    if _movielens(source, request):
        return False  # that format has a known scale
    magic = _magic(source)
    try:
        names = (
            scan(_stored(source), magic).collect_schema().names()
            if magic
            else header(source.head, request)[1]
        )
    except BROKEN:
        return False
    return not request.missing(names)


def _movielens(source: Source, request: Request) -> bool:
    return MOVIELENS.match(source.head) is not None and request.columns == Columns()


def header(head: bytes, request: Request) -> tuple[str, list[str]]:
    """Return the separator, and the names of the first line or the numbers of its fields."""
    line = head.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    separator = max(SEPARATORS, key=line.count)
    names = split(line, separator)
    if request.columns.are_positions:
        names = [str(number) for number in range(1, len(names) + 1)]
    return separator, names


def _read_table(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    (source,) = sources
    yield from (_read_binary if _magic(source) else _read_text)(source, request)


def _read_text(source: Source, request: Request) -> Iterator[pl.DataFrame]:
    separator, names = header(source.head, request)
    yield from _read_columns(source, separator, names, request)


def _read_columns(
    source: Source, separator: str, names: list[str], request: Request
) -> Iterator[pl.DataFrame]:
    """Yield the rows of text whose columns have these names."""
    require(source, names, request)
    renaming = request.renaming(names)
    fields = tuple(renaming.get(name) for name in names)
    skipped = 0 if request.columns.are_positions else 1
    parser = _delimited(source.head, separator, fields, request, skipped)
    yield from frames(source, parser, skip_lines=skipped)


def _delimited(
    head: bytes, separator: str, fields: Sequence[str | None], request: Request, skipped: int
) -> Delimited:
    """Return the parser of the lines, with formats inferred from the first of them."""
    lines = head.decode("utf-8", "replace").splitlines()[skipped:]
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
        float_times=any("." in time for time in times) and all(map(finite, times)),
    )


def _looks_recbole(source: Source, request: Request) -> bool:
    return RECBOLE_HEADER.match(source.head) is not None and not request.columns.are_positions


def _read_recbole(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    (source,) = sources
    names = [name.partition(":")[0] for name in header(source.head, request)[1]]
    columns = request.columns if request.columns != Columns() else RECBOLE_COLUMNS
    yield from _read_columns(source, "\t", names, replace(request, columns=columns))


def _magic(source: Source) -> bytes:
    """Return the magic bytes of a binary file, empty for text."""
    return next((magic for magic in SCANS if source.head.startswith(magic)), b"")


def _stored(source: Source) -> Path | bytes:
    """Return the path of a Parquet or Arrow file, or its decompressed bytes."""
    if source.is_plain:
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
RECBOLE = Format("recbole", ("*.inter",), _looks_recbole, _read_recbole)
