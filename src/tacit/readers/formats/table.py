"""Tables with a header: csv, tsv, Parquet and Arrow IPC, and `ratings.csv` of MovieLens."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.readers.decoding import BROKEN, SCANS, decodable, scan
from tacit.readers.delimited import Delimited
from tacit.readers.format import Columns, Format, Request
from tacit.readers.formats.times import ISO
from tacit.readers.frame import read_lazy, require
from tacit.readers.source import Source
from tacit.readers.text import frames, reason, split

SEPARATORS = (",", "\t", ";", "|")
MOVIELENS = re.compile(rb"userId,movieId,rating,timestamp\r?\n")
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def _looks(source: Source, request: Request) -> bool:
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


def _read(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
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
        iso_times=bool(times) and all(map(ISO.fullmatch, times)),
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


ML_CSV = Format("movielens-csv", ("ratings.csv",), _movielens, _read, scale="0.5:5:0.5")
TABLE = Format(
    "table",
    ("*.csv", "*.tsv", "*.txt", "*.parquet", "*.arrow", "*.ipc", "*.feather"),
    _looks,
    _read,
)
