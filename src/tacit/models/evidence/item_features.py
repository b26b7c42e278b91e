"""Public item metadata (genres, year, title words) as features of an item prior.

A column of the table is numeric, text or vectors, such as embeddings. Text is split into indicators
of its bar-separated values or its words, and a year in parentheses at the end of titles is a
separate number. Each column yields one group of features. With its centred indicators, numbers or
vectors F = U diag(s) V',

    values = sqrt(n) U,     order_j = (s_1 / s_j)^2,

and weights of variance 1 / order_j, items have the covariance F F'. Items that share many rare
values are most similar.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import eigh

from tacit.errors import RequestError, must_be
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]

ID = "item"
SHARE, OF_WORDS = 0.25, 0.05
"""Fraction of item variance expected to be explained by a column of numbers or values, by words."""
MOST, MOST_IN_ALL = 40, 900  # features per column, and per table
LEAST = 1e-3  # of the first feature's variance
FEWEST_ITEMS = 3  # per word or value
MOST_MARKS = 500  # most frequent words or values per column
YEAR = r"\((\d{4})\)\s*$"


@dataclass(frozen=True, eq=False)
class Features:
    """Features of one group. `values`: shape (rows, d).

    `order`: shape (d,), expected explained variance of the first feature over that of each.
    `share`: variance they are expected to explain together, relative to the rows' residual.
    """

    values: Doubles
    order: Doubles
    share: float = 1.0

    @classmethod
    def by_rank(cls, values: Doubles) -> Self:
        """Return features in decreasing order, the j-th explaining 1/j, less on few rows."""
        return cls(values, np.arange(1.0, values.shape[1] + 1) / _spread_over_rows(values))


def item_features(table: pl.DataFrame, items: Vocabulary) -> list[Features]:
    """Return features of `items` per column, shape (items, d); zero where the table has no value.

    `table`: a column `item` of raw ids, and columns of numbers, text, lists of text or vectors
    (lists or arrays of numbers, of one length). Of a column the 40 directions of largest variance
    are retained.

    Raises `RequestError` for a table without `item`, with a duplicate item, without any of `items`,
    with vectors of different lengths, or with more than 900 features.
    """
    rows = _rows_of(table, items)
    marks = [each for column in rows.drop(ID) for each in _marks(column)]
    groups = [_by_variance(F, share) for F, share in marks]
    total = sum(len(each.order) for each in groups)
    if total > MOST_IN_ALL:
        raise RequestError(
            f"The {rows.width - 1} columns of the item table expand to {total} features, more than "
            f"the {MOST_IN_ALL} that an item model allows; leave out the least informative "
            "columns."
        )
    return [each for each in groups if len(each.order)]


def item_similarity(groups: Sequence[Features], items: int) -> Doubles:
    """Return S with S S' = the similarity of items by their features, shape (items, d).

    Items that share many rare values are most similar. Its mean over the diagonal is 1, and 0
    if all items have equal features.
    """
    columns = [each.values / np.sqrt(each.order) for each in groups]
    joined = np.hstack([np.zeros((items, 0)), *columns])
    return joined / np.sqrt(max((joined**2).sum() / max(items, 1), 1e-30))


def checked_table(table: object) -> pl.DataFrame:
    """Return the item table. Raises `RequestError` unless it is a polars frame."""
    remedy = "pass the polars frame that `item_table` returns, or polars.from_pandas(table)"
    return must_be(pl.DataFrame, table, "an item table", remedy)


def _rows_of(table: pl.DataFrame, items: Vocabulary) -> pl.DataFrame:
    """Return the table's rows in the order of `items`; nulls for missing items."""
    checked_table(table)
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
    catalogue = pl.DataFrame({"code": np.arange(len(items), dtype=np.int32), ID: items.ids})
    return catalogue.join(known, on="code", how="left", maintain_order="left").drop("code")


def _marks(column: pl.Series) -> list[tuple[Doubles, float]]:
    """Return centred columns of shape (items, d), each with its expected fraction of item variance.

    A number stays a number; text becomes indicators of values or words.
    """
    kind = column.dtype
    if kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean or kind == pl.Null:
        return [(_number(column.to_physical()), SHARE)]
    if isinstance(kind, pl.List | pl.Array) and kind.inner.is_numeric():
        return [(_vectors(column), SHARE)]
    if kind == pl.List(pl.String):
        return [(_shared(column), SHARE)]
    if kind != pl.String:
        raise RequestError(
            f"The column {column.name} of the item table has type {kind}; use numbers, dates, "
            "text, or lists of text or of numbers, or leave it out."
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


def _vectors(column: pl.Series) -> Doubles:
    """Return centred vectors of shape (items, d), zero for items without one."""
    described = column.is_not_null().to_numpy()
    vectors: list[Sequence[float]] = column.drop_nulls().to_list()
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1:
        raise RequestError(
            f"The vectors of the column {column.name} must have one length, got "
            f"{min(lengths)} and {max(lengths)}."
        )
    known = np.array(vectors, np.float64).reshape(len(vectors), max(lengths, default=0))
    if not np.isfinite(known).all():
        raise RequestError(
            f"The vectors of the column {column.name} must contain finite numbers only; leave out "
            "the vectors of other items."
        )
    centred = np.zeros((len(column), known.shape[1]))
    centred[described] = known - known.mean(0) if len(known) else known
    return centred


def _shared(lists: pl.Series) -> Doubles:
    """Return centred indicators of the values that at least three items share."""
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


def _by_variance(F: Doubles, share: float) -> Features:
    """Return orthogonal features that span the columns of F, in decreasing order of variance."""
    squares, vectors = eigh(F.T @ F)
    strongest = np.argsort(squares)[::-1][:MOST]
    retained = strongest[squares[strongest] > max(LEAST * squares.max(initial=0), 1e-9)]
    values = F @ vectors[:, retained] * np.sqrt(len(F) / squares[retained])
    order = squares[retained].max(initial=0) / squares[retained]
    return Features(np.asarray(values), np.asarray(order), share)


def _spread_over_rows(features: Doubles) -> Doubles:
    """Return the effective fraction of rows of each feature, 1 where it is normal or flatter."""
    rows = (features**2).sum(0) ** 2 / np.maximum((features**4).sum(0), 1e-30)
    return np.clip(3 * rows / len(features), 1e-3, 1)
