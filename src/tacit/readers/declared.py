"""Declared lists: which items there are and who takes part, said before anybody rates.

A catalogue or a list of people that is read off ratings shows which items somebody rated, and who
did; no guarantee covers that. These files are therefore no ratings, and a file of ratings is
refused in their place.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.ratings import Ratings
from tacit.readers.decoding import BROKEN, PARQUET, decodable
from tacit.readers.format import Notify
from tacit.readers.items import LAYOUTS, STORED, items
from tacit.readers.text import missing, reason
from tacit.vocabulary import typed_ids

Ids = Iterable[int | str]
Declared = Ids | str | Path
"""Ids, or the file that lists them."""

TABLES = (".csv", ".tsv", ".parquet")
RATED = {"item": ("user", "rating"), "user": ("item", "rating")}
"""Columns that a list of the one kind does not have, or it is a file of ratings."""


def declare(
    ratings: Ratings, catalogue: Declared | None, people: Declared | None, notify: Notify
) -> Ratings:
    """The ratings under a declared catalogue and list of people, where they are given.

    Says how many ratings of others were dropped: a figure that no guarantee covers. Raises as
    `catalogue`, `people` and `Ratings.with_catalogue` do.
    """
    found = ratings
    if catalogue is not None:
        found = found.with_catalogue(_ids(catalogue, "item"))
    if people is not None:
        found = found.with_people(_ids(people, "user"))
    if dropped := len(ratings) - len(found):
        notify(
            f"{ratings.name}: {dropped:,} ratings of undeclared users or items were dropped (a "
            "count of true ratings, which no guarantee covers)."
            + ("" if len(found) else " None is left; use the same ids in both.")
        )
    return found


def is_catalogue(path: Path) -> bool:
    """Whether the file lists items, and is no file of ratings."""
    if path.name in (*LAYOUTS, STORED):
        return True
    return path.suffix.lower() in TABLES and not set(RATED["item"]) & set(_table(path).columns)


def catalogue(path: str | Path) -> pl.DataFrame:
    """Columns item and title (null where there is none) of a declared catalogue, each item once.

    `path`: a table (csv, tsv, Parquet) with a column item and perhaps title, or what
    `tacit.readers.items` reads. Raises `DataError` for a file of ratings and for no catalogue.
    """
    place = Path(path)
    if place.name in (*LAYOUTS, STORED) or place.suffix.lower() not in TABLES:
        return items(place).select("item", "title")
    table = listed(place, "item")
    titles = pl.col("title").cast(pl.String) if "title" in table.columns else pl.lit(None)
    return table.select("item", titles.cast(pl.String).alias("title"))


def people(path: str | Path) -> pl.Series:
    """The ids of everybody who takes part, each once, from a table with a column user.

    Raises `DataError` for a file of ratings and for no list.
    """
    return listed(Path(path), "user")["user"]


def _ids(declared: Declared, name: str) -> Ids:
    if not isinstance(declared, str | Path):
        return declared
    return (catalogue(declared)["item"] if name == "item" else people(declared)).to_list()


def listed(path: Path, name: str) -> pl.DataFrame:
    """The rows of a table with a column of ids, the first of each id; raises `DataError` for a file
    of ratings, a row without an id, and for no table."""
    table = _table(path)
    if name not in table.columns:
        raise DataError(f"{path} has no column named {name}; name it in the first line.")
    if odd := [column for column in RATED[name] if column in table.columns]:
        raise DataError(
            f"{path} has a column {odd[0]}, so it contains ratings, and a list "
            "inferred from ratings is not a declaration. Use a table that lists "
            f"every {name}."
        )
    if gaps := int((absent := missing(table[name])).sum()):
        row = int(absent.arg_max() or 0) + 1
        raise DataError(f"{path}, row {row}: the {name} is missing ({gaps} in all); fill it in.")
    return table.unique(name, keep="first", maintain_order=True)


def _text_table(path: Path) -> pl.DataFrame:
    """Read a csv or tsv with its id columns as strings."""
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    names = pl.read_csv(path, separator=separator, n_rows=0).columns
    as_written = {name: pl.String() for name in names if name in RATED}
    return pl.read_csv(
        path, separator=separator, infer_schema_length=None, schema_overrides=as_written
    )


def _typed(table: pl.DataFrame) -> pl.DataFrame:
    """Infer the type of id columns; raise `DataError` unless they are integers or text."""
    for name in set(RATED) & set(table.columns):
        if not (table.schema[name].is_integer() or isinstance(table.schema[name], pl.String)):
            raise DataError(
                f"column '{name}' must contain integers or text, got {table.schema[name]}"
            )
    return table.with_columns(typed_ids(table[name]) for name in RATED if name in table.columns)


def _table(path: Path) -> pl.DataFrame:
    try:
        if path.suffix.lower() == ".parquet":
            return _typed(decodable(path, PARQUET, path).collect())
        return _typed(_text_table(path))
    except BROKEN as error:
        raise DataError(
            f"{path} is not a table ({reason(error)}); use a csv with a header."
        ) from None
