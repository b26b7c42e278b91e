"""What everybody knows of the items - genres, year, words of the title - as features for a prior.

A column of a public table is a number, or text: its values between bars or its words, each with a
mark where an item has it, and the year that titles end with in brackets as a number of its own.
Each of them becomes an origin of features. With the marks, centred, F = U diag(s) V',

    values = sqrt(n) U,     order_j = (s_1 / s_j)^2,

so that weights of variance 1 / order_j make items covary as F F' has it: two items that share
most of what few others have are most alike.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import eigh

from tacit.errors import RequestError
from tacit.given import must_be
from tacit.models.channel_mf.row_prior import Features
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]

ID = "item"
SHARE, OF_WORDS = 0.25, 0.05
"""Of items' variance, what a column of numbers or values is expected to explain, and what words."""
MOST, MOST_IN_ALL = 40, 900  # features of a column, and of a table
LEAST = 1e-3  # of the first one's variance that a feature has
FEWEST_ITEMS = 3  # that share a word or a value
MOST_MARKS = 500  # words or values of a column: the most frequent
YEAR = r"\((\d{4})\)\s*$"


def item_features(table: pl.DataFrame, items: Vocabulary) -> list[Features]:
    """Features of `items` of each column, shape (items, d); zero where the table says nothing.

    `table`: a column item, of raw ids, and others of numbers, text or lists of text. Raises
    `RequestError` for another table: without item, with one item twice, with nothing of any of
    the items, or with more than 900 features.
    """
    own = _own_rows(table, items)
    marks = [each for column in own.drop(ID) for each in _marks(column)]
    found = [_by_strength(F, share) for F, share in marks]
    total = sum(len(each.order) for each in found)
    if total > MOST_IN_ALL:
        raise RequestError(
            f"The {own.width - 1} columns of the item table have {total} features, more than the "
            f"{MOST_IN_ALL} that an item model allows; leave out the least informative columns."
        )
    return [each for each in found if len(each.order)]


def _own_rows(table: pl.DataFrame, items: Vocabulary) -> pl.DataFrame:
    """The table's row of each item, in the order of `items`; nulls where it has none."""
    must_be(pl.DataFrame, table, "an item table", "pass the polars frame that `item_table` returns")
    if ID not in table.columns or table.width < 2:
        raise RequestError(
            f"An item table must have a column {ID} and at least one other column, got "
            f"{', '.join(table.columns) or 'no column'}."
        )
    codes = pl.Series("code", items.codes(table[ID]))
    again = (codes >= 0) & codes.is_duplicated()
    if again.any():
        first = table[ID].filter(again)[0]
        raise RequestError(
            f"The item {first} occurs twice in the item table; keep one row per item."
        )
    if not (codes >= 0).any():
        raise RequestError(
            f"None of the {len(table):,} items in the item table is in the catalogue (the first "
            f"is {table[ID][0]}); use a table of these items."
        )
    known = table.with_columns(codes).filter(pl.col("code") >= 0).drop(ID)
    whole = pl.DataFrame({"code": np.arange(len(items), dtype=np.int32), ID: items.ids})
    return whole.join(known, on="code", how="left", maintain_order="left").drop("code")


def _marks(column: pl.Series) -> list[tuple[Doubles, float]]:
    """A number as it is, the values or words of text, each shape (items, marks), centred, with the
    share of items' variance that they are expected to explain."""
    kind = column.dtype
    if kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean or kind == pl.Null:
        return [(_number(column.to_physical()), SHARE)]
    if kind == pl.List(pl.String):
        return [(_shared(column), SHARE)]
    if kind != pl.String:
        raise RequestError(
            f"The column {column.name} of the item table has type {kind}; use numbers, dates, "
            "text or lists of text, or leave it out."
        )
    if column.str.contains("|", literal=True).any():
        return [(_shared(column.str.split("|")), SHARE)]
    years = column.str.extract(YEAR).cast(pl.Float64)
    words = column.str.replace(YEAR, "").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}']+")
    dated = [(_number(years), SHARE)] if 2 * years.count() > column.count() else []
    return [*dated, (_shared(words), OF_WORDS)]


def _number(column: pl.Series) -> Doubles:
    known = column.cast(pl.Float64).fill_nan(None)
    centre = known.fill_null(0.0) - (known.mean() or 0)
    return np.where(known.is_null().to_numpy(), 0, centre.to_numpy())[:, None]


def _shared(lists: pl.Series) -> Doubles:
    """A mark for each value that at least three items have, less the share that have it."""
    rows = pl.DataFrame({"row": np.arange(len(lists)), "value": lists.cast(pl.List(pl.String))})
    rows = rows.explode("value", empty_as_null=False)
    rows = rows.drop_nulls().unique(maintain_order=True)
    counts = rows.group_by("value").len().filter(pl.col("len") >= FEWEST_ITEMS)
    top = counts.sort("len", "value", descending=[True, False]).head(MOST_MARKS)
    cells = rows.join(top.with_row_index("mark"), on="value")
    marks = np.zeros((len(lists), len(top)))
    marks[cells["row"].to_numpy(), cells["mark"].to_numpy()] = 1
    described = lists.is_not_null().to_numpy()
    return marks - np.outer(described, marks.sum(0) / max(described.sum(), 1))


def _by_strength(F: Doubles, share: float) -> Features:
    """Features that explain as the columns of F do, strongest first."""
    squares, vectors = eigh(F.T @ F)
    strongest = np.argsort(squares)[::-1][:MOST]
    kept = strongest[squares[strongest] > max(LEAST * squares.max(initial=0), 1e-9)]
    values = F @ vectors[:, kept] * np.sqrt(len(F) / squares[kept])
    order = squares[kept].max(initial=0) / squares[kept]
    return Features(np.asarray(values), np.asarray(order), share)
