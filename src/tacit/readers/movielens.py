"""MovieLens: `u.data` (100K), `ratings.dat` with `::` (1M) and `ratings.csv` (20M and later)."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.readers.delimited import Delimited
from tacit.readers.format import Columns, Format, Request
from tacit.readers.source import Source
from tacit.readers.text import frames

FIELDS = ("user", "item", "rating", "timestamp")
TABS = re.compile(rb"-?\d+\t-?\d+\t[\d.]+\t\d+\r?\n")
COLONS = re.compile(rb"-?\d+::-?\d+::[\d.]+::\d+\r?\n")
HEADER = re.compile(rb"userId,movieId,rating,timestamp\r?\n")


def _tabs(source: Source, request: Request) -> bool:
    return TABS.match(source.head) is not None


def _colons(source: Source, request: Request) -> bool:
    return COLONS.match(source.head) is not None


def _header(source: Source, request: Request) -> bool:
    return HEADER.match(source.head) is not None and request.columns == Columns()


def _read_tabs(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("\t", FIELDS, request.grid))


def _read_colons(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("::", FIELDS, request.grid))


def _read_csv(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited(",", FIELDS, request.grid), skip_lines=1)


ML_100K = Format("movielens-100k", ("u.data",), _tabs, _read_tabs, scale="1:5:1")
ML_1M = Format("movielens-1m", ("ratings*.dat",), _colons, _read_colons, scale="1:5:1")
ML_CSV = Format("movielens-csv", ("ratings.csv",), _header, _read_csv, scale="0.5:5:0.5")

TITLE_FILES = ("u.item", "movies.dat", "movies.csv")


def titles(path: str | Path) -> pl.DataFrame:
    """Columns item and title from `u.item`, `movies.dat` (both Latin-1) or `movies.csv`.

    `path` is such a file, or a ratings file or folder that one of them lies beside. Raises
    `DataError` when there is none.
    """
    near = Path(path)
    folder = near if near.is_dir() else near.parent
    files = [near] if near.name in TITLE_FILES else [folder / name for name in TITLE_FILES]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise DataError(f"{path}: there is no {', '.join(TITLE_FILES)} to read titles from.")
    return _csv_titles(file) if file.suffix == ".csv" else _latin_titles(file)


def _csv_titles(file: Path) -> pl.DataFrame:
    table = pl.read_csv(file, columns=["movieId", "title"])
    return table.rename({"movieId": "item"})


def _latin_titles(file: Path) -> pl.DataFrame:
    mark = "::" if file.suffix == ".dat" else "|"
    rows = [line.split(mark) for line in file.read_text("latin-1").splitlines() if line]
    for number, row in enumerate(rows, 1):
        if len(row) < 2 or not row[0].isdigit():
            raise DataError(f"{file}, line {number}: {mark.join(row)!r} is not item{mark}title.")
    return pl.DataFrame({"item": [int(row[0]) for row in rows], "title": [row[1] for row in rows]})
