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
from tacit.ratings import Mask
from tacit.vocabulary import Vocabulary, rows_by_id

Doubles = NDArray[np.float64]

ID = "item"
SHARE, OF_WORDS = 0.25, 0.05
"""Fraction of item variance expected to be explained by a column of numbers or values, by words."""
MOST, MOST_IN_ALL = 40, 900  # features per column, and per table
LEAST = 1e-3  # of the first feature's variance
FEWEST_ITEMS = 3  # per word or value
MOST_MARKS = 500  # most frequent words or values per column
YEAR = r"\(([0-9]{4})\)\s*$"


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
    with an infinite number, with vectors of different lengths, or with more than 900 features.
    """
    rows = rows_by_id(checked_table(table), ID, items)
    marks = [each for column in rows for each in _marks(column)]
    groups = [_by_variance(F, share) for F, share in marks]
    total = sum(len(each.order) for each in groups)
    if total > MOST_IN_ALL:
        raise RequestError(
            f"The {rows.width} columns of the item table expand to {total} features, more than "
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
        values = column.str.split("|").list.eval(pl.element().str.strip_chars())
        return [(_shared(values), SHARE)]
    years = column.str.extract(YEAR).cast(pl.Float64)
    words = column.str.replace(YEAR, "").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}']+")
    dated = [(_number(years), SHARE)] if 2 * years.count() > column.count() else []
    return [*dated, (_shared(words), OF_WORDS)]


def _number(column: pl.Series) -> Doubles:
    known = column.cast(pl.Float64).fill_nan(None)
    described = known.is_not_null().to_numpy()
    return _centred(column.name, described, known.drop_nulls().to_numpy()[:, None])


def _vectors(column: pl.Series) -> Doubles:
    """Return centred vectors of shape (items, d), zero for items without one."""
    vectors: list[Sequence[float]] = column.drop_nulls().to_list()
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1:
        raise RequestError(
            f"The vectors of the column {column.name} must have one length, got "
            f"{min(lengths)} and {max(lengths)}."
        )
    known = np.array(vectors, np.float64).reshape(len(vectors), max(lengths, default=0))
    return _centred(column.name, column.is_not_null().to_numpy(), known)


def _centred(name: str, described: Mask, known: Doubles) -> Doubles:
    """Return the rows of `known` minus their mean where `described`, zero elsewhere."""
    if not np.isfinite(known).all():
        raise RequestError(
            f"The column {name} of the item table must contain finite numbers only; leave out the "
            "rows of other items."
        )
    # Equal rows become exactly 0, which a mean with a rounding error would not make of them.
    differences = _scaled(known) - _scaled(known)[:1]
    centred = np.zeros((len(described), known.shape[1]))
    centred[described] = differences - differences.mean(0) if len(known) else differences
    return centred


def _scaled(values: Doubles) -> Doubles:
    """Return values times the power of 2 that makes the largest one at most 1, which is exact."""
    return np.ldexp(values, -int(np.frexp(np.abs(values).max(initial=0))[1]))


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
    scaled = _scaled(F)
    squares, vectors = eigh(scaled.T @ scaled)
    strongest = np.argsort(squares)[::-1][:MOST]
    retained = strongest[squares[strongest] > max(LEAST * squares.max(initial=0), 1e-9)]
    values = scaled @ vectors[:, retained] * np.sqrt(len(F) / squares[retained])
    order = squares[retained].max(initial=0) / squares[retained]
    return Features(np.asarray(values), np.asarray(order), share)


def _spread_over_rows(features: Doubles) -> Doubles:
    """Return the effective fraction of rows of each feature, 1 where it is normal or flatter."""
    rows = (features**2).sum(0) ** 2 / np.maximum((features**4).sum(0), 1e-30)
    return np.clip(3 * rows / len(features), 1e-3, 1)
