"""Titles and genres of items, from the catalogue files of data sets."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.errors import path as given_path
from tacit.readers.format import ColumnNames, Columns, Request
from tacit.readers.formats.detect import detect
from tacit.readers.frame import PARQUET, decodable
from tacit.readers.source import Source, sources_in
from tacit.readers.text import reason, shown, split
from tacit.vocabulary import typed_ids

# The genre flags of `u.item`, in order. The first one stands for unknown genres.
FLAGS = (
    "unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary",
    "Drama", "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi",
    "Thriller", "War", "Western",
)  # fmt: skip
NO_GENRE = ("", "unknown", "(no genres listed)")
STORED = "items.parquet"
SCHEMA = {"item": pl.String, "title": pl.String, "genres": pl.List(pl.String)}


@dataclass(frozen=True)
class ItemFormat:
    """Lines of item, title and other fields. Genres are in field `genres`, or flags from there."""

    separator: str
    encoding: str
    genres: int
    flags: bool = False
    header: bool = False

    def genres_of(self, row: Sequence[str]) -> list[str]:
        """Return the genres of one line, empty without the field."""
        if self.flags:
            marks = zip(FLAGS, row[self.genres :], strict=False)
            named = [name for name, mark in marks if mark == "1"]
        else:
            named = row[self.genres].split("|") if len(row) > self.genres else []
        return [name for name in named if name not in NO_GENRE]

    def rows(self, lines: Sequence[str]) -> list[list[str]]:
        """Return the fields of every line."""
        if self.separator == ",":
            return [split(line, ",") for line in lines]
        return [line.split(self.separator) for line in lines if line]


# By file name. Older releases are in Latin-1.
LAYOUTS = {
    "u.item": ItemFormat("|", "latin-1", 5, flags=True),
    "movies.dat": ItemFormat("::", "latin-1", 2),
    "movies.csv": ItemFormat(",", "utf-8", 2, header=True),
}


def items(path: str | Path, columns: ColumnNames | None = None) -> pl.DataFrame:
    """Read a catalogue with columns item, title and genres (lists, possibly empty).

    `path`: `u.item`, `movies.dat`, `movies.csv` or `items.parquet` (columns item, title or genres,
    the latter separated by `|`), an archive or a folder with one of them, or a ratings file in the
    same folder, with `columns` as in `read`. Raises `DataError` without such a file, and for an
    invalid line.
    """
    for source in _sources(given_path(path), columns):
        if source.name in LAYOUTS:
            return _listed(source, LAYOUTS[source.name])
        if source.name == STORED:
            return _stored(source)
    names = ", ".join((*LAYOUTS, STORED))
    raise DataError(f"{path}: no item file ({names}) was found; name one.")


def _sources(path: Path, columns: ColumnNames | None) -> list[Source]:
    """Return the sources at `path`, or for a file of ratings those in its folder."""
    sources = sources_in(path)
    if sources != [Source(path)] or sources[0].name in (*LAYOUTS, STORED):
        return sources
    request = Request(columns=Columns.of(columns))
    with suppress(DataError):  # of an unknown format
        looks = detect(path, None, request).format.looks
        return sources_in(path.parent) if looks(sources[0], request) else []
    return []


def _listed(source: Source, layout: ItemFormat) -> pl.DataFrame:
    with source.open() as file:
        lines = file.read().decode(layout.encoding, "replace").splitlines()
    first = 1 if layout.header else 0
    rows = layout.rows(lines)[first:]
    for number, row in enumerate(rows, first + 1):
        if len(row) < 2 or not row[0].strip():
            raise DataError(
                f"{source}, line {number}: {shown(layout.separator.join(row))} is not "
                f"item{layout.separator}title; correct the line."
            )
    columns = {
        "item": [row[0] for row in rows],
        "title": [row[1] for row in rows],
        "genres": [layout.genres_of(row) for row in rows],
    }
    return _typed(pl.DataFrame(columns, schema=SCHEMA))


def _stored(source: Source) -> pl.DataFrame:
    try:
        with source.open() as file:
            stored = decodable(file.read(), PARQUET, source).collect()
        columns = {name: pl.col(name) for name in ("title", "genres") if name in stored.columns}
        text = {name: column.cast(pl.String) for name, column in columns.items()}
        return _typed(stored).select(
            "item",
            text.get("title", pl.lit(None, pl.String)).alias("title"),
            text.get("genres", pl.lit(None, pl.String))
            .fill_null("")
            .str.split("|")
            .list.filter(~pl.element().is_in(NO_GENRE))
            .alias("genres"),
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, KeyError) as error:
        raise DataError(
            f"{source} is not a table of item, title and genres ({reason(error)}); write it again."
        ) from error


def _typed(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(typed_ids(table["item"]))
