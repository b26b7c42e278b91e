"""Declared catalogues and lists of users, fixed independently of the ratings.

A catalogue or a list of users that is inferred from ratings reveals the rated items and the raters,
which no guarantee covers. Files of ratings are therefore rejected here.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.errors import path as given_path
from tacit.ratings import Ratings
from tacit.readers.format import Notify
from tacit.readers.frame import BROKEN, PARQUET, decodable
from tacit.readers.items import LAYOUTS, STORED, items
from tacit.readers.text import missing, reason
from tacit.vocabulary import typed_ids

Ids = Iterable[int | str]
Declared = Ids | str | Path
"""Ids, or a file that lists them."""

TABLES = (".csv", ".tsv", ".parquet")
RATED = {"item": ("user", "rating"), "user": ("item", "rating")}
"""Columns that mark a file of ratings, by kind of list."""


def declare(
    ratings: Ratings, catalogue: Declared | None, people: Declared | None, notify: Notify
) -> Ratings:
    """Restrict ratings to a declared catalogue and list of users, if given.

    Notifies of the number of dropped ratings, which no guarantee covers. Raises as `catalogue`,
    `people` and `Ratings.with_catalogue` do.
    """
    result = ratings
    if catalogue is not None:
        result = result.with_catalogue(_ids(catalogue, "item"))
    if people is not None:
        result = result.with_people(_ids(people, "user"))
    if dropped := len(ratings) - len(result):
        notify(
            f"{ratings.name}: {dropped:,} ratings of undeclared users or items were dropped (a "
            "count of true ratings, which no guarantee covers)."
            + ("" if len(result) else " No rating remains; use the same ids in both.")
        )
    return result


def is_catalogue(path: Path) -> bool:
    """Return whether the file is a list of items, and not a file of ratings."""
    if path.name in (*LAYOUTS, STORED):
        return True
    return path.suffix.lower() in TABLES and not set(RATED["item"]) & set(_table(path).columns)


def catalogue(path: str | Path) -> pl.DataFrame:
    """Read a declared catalogue: distinct items, with columns item and title (null if unknown).

    `path`: a table (csv, tsv, Parquet) with a column item and optionally title, or an input of
    `tacit.readers.items`. Raises `DataError` for a file of ratings, and for an invalid catalogue.
    """
    file = Path(path)
    if file.name in (*LAYOUTS, STORED) or file.suffix.lower() not in TABLES:
        return items(file).select("item", "title")
    table = listed(file, "item")
    titles = pl.col("title").cast(pl.String) if "title" in table.columns else pl.lit(None)
    return table.select("item", titles.cast(pl.String).alias("title"))


def titles(path: str | Path) -> pl.DataFrame:
    """Read the items with a title, with columns item and title.

    `path`: an input of `catalogue`, or a file of ratings in the folder of an item file. Raises
    `DataError` as `catalogue`, and for a file without titles.
    """
    file = given_path(path)
    table = catalogue(file) if is_catalogue(file) else items(file).select("item", "title")
    named = table.drop_nulls()
    if named.is_empty():
        raise DataError(f"{file} has no titles; name a table with columns item and title.")
    return named


def people(path: str | Path) -> pl.Series:
    """Read the distinct ids of all participating users from a table with a column user.

    Raises `DataError` for a file of ratings, and for an invalid list.
    """
    return listed(Path(path), "user")["user"]


def _ids(declared: Declared, name: str) -> Ids:
    if not isinstance(declared, str | Path):
        return declared
    return (catalogue(declared)["item"] if name == "item" else people(declared)).to_list()


def listed(path: Path, name: str) -> pl.DataFrame:
    """Read a table with a column of ids, the first row of each id. Raises `DataError` for a file of
    ratings, for a row without an id, and for an invalid table."""
    table = _table(path)
    if name not in table.columns:
        raise DataError(f"{path} has no column named {name}; name it in the header line.")
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
    if not path.exists():
        raise DataError(f"{path} does not exist; name a table, such as a csv with a header.")
    try:
        if path.suffix.lower() == ".parquet":
            return _typed(decodable(path, PARQUET, path).collect())
        return _typed(_text_table(path))
    except BROKEN as error:
        raise DataError(
            f"{path} is not a table ({reason(error)}); use a csv with a header."
        ) from None


# Public item tables, one row per item, for models that use item features.


def item_table(path: str | Path) -> pl.DataFrame:
    """Read an item table: a column item, and features such as genres, title, year or language.

    `path`: a table (csv, tsv, Parquet) with a column item, or an input of `tacit.readers.items`. It
    must be public, because a published model depends on it. Means or counts of ratings are not
    public. Raises `DataError` for a file of ratings, for an invalid table, and for a table without
    features.
    """
    file = Path(path)
    is_release = file.name in (*LAYOUTS, STORED) or file.suffix.lower() not in TABLES
    table = items(file) if is_release else listed(file, "item")
    if table.width < 2:
        raise DataError(
            f"{file} has an item column only; add columns that describe the items, such as "
            "genres, title or year."
        )
    return table
