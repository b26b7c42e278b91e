"""Titles of items, as MovieLens releases carry them beside the ratings."""

import csv
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.readers.source import Source, sources_in
from tacit.readers.text import shown

# File name -> (separator, encoding); the older releases are Latin-1.
LAYOUTS = {
    "u.item": ("|", "latin-1"),
    "movies.dat": ("::", "latin-1"),
    "movies.csv": (",", "utf-8"),
}


def titles(path: str | Path) -> pl.DataFrame:
    """Columns item and title from `u.item`, `movies.dat` or `movies.csv`.

    `path` is such a file, an archive or a folder that holds one, or a ratings file beside one.
    Raises `DataError` when there is none or a line of it is wrong.
    """
    near = Path(path)
    inside = near if near.is_dir() or near.suffix == ".zip" or near.name in LAYOUTS else near.parent
    for source in sources_in(inside):
        if source.name in LAYOUTS:
            return _titles(source)
    raise DataError(f"{path}: there is no {', '.join(LAYOUTS)} to read titles from; name one.")


def _titles(source: Source) -> pl.DataFrame:
    separator, encoding = LAYOUTS[source.name]
    with source.open() as file:
        lines = file.read().decode(encoding, "replace").splitlines()
    rows = [row[:2] for row in _split(lines, separator)]
    first = 1 if source.name.endswith(".csv") else 0
    for number, row in enumerate(rows[first:], first + 1):
        if len(row) < 2 or not row[0].isdigit():
            raise DataError(
                f"{source}, line {number}: {shown(separator.join(row))} is not "
                f"item{separator}title; correct the line."
            )
    items, names = [int(row[0]) for row in rows[first:]], [row[1] for row in rows[first:]]
    return pl.DataFrame(
        {"item": items, "title": names}, schema={"item": pl.Int64, "title": pl.String}
    )


def _split(lines: Sequence[str], separator: str) -> list[list[str]]:
    if separator == ",":
        return list(csv.reader(lines))
    return [line.split(separator) for line in lines if line]
