"""Public item tables, one row per item, for models that use item features."""

from pathlib import Path

import polars as pl

from tacit.errors import DataError
from tacit.readers.declared import TABLES, listed
from tacit.readers.items import LAYOUTS, STORED, items


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
