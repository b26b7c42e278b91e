"""What everybody knows of the items: a table with a row an item, for models that use it."""

from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.readers.declared import TABLES, listed
from tacit.readers.items import LAYOUTS, STORED, items


def item_table(path: str | Path) -> pl.DataFrame:
    """A column item and what else the table has: genres, title, a year, a language.

    `path`: a table (csv, tsv, Parquet) with a column item, or what `tacit.readers.items` reads.
    It has to be public, as whatever it says shapes a published model: means or counts read off
    ratings are not. Raises `DataError` for a file of ratings, for no table, and for one that says
    nothing but which items there are.
    """
    place = Path(path)
    own = place.name in (*LAYOUTS, STORED) or place.suffix.lower() not in TABLES
    table = items(place) if own else listed(place, "item")
    if table.width < 2:
        raise DataError(
            f"{place} has an item column only; add columns that describe the items, such as "
            "genres, title or year."
        )
    return table
