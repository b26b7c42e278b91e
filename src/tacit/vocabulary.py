"""Raw ids of users and items: type inference and vocabularies.

An id column is text unless every id is a canonical 64-bit integer. 0010, +7 and 1e5 are not, and
one of them makes the whole column text. Leading and trailing spaces are removed and counted. The
rule is the same for all files and frames.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.scale import RatingScale

Codes = NDArray[np.int32]
LOOKED_UP = 8_000_000  # ids per join, to bound memory
NO_IDS = "Ids must be a list of integers or strings, as in the ratings, got {}."


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Distinct raw ids of users or items. The *code* of an id is its index.

    Codes are internal: the public API has raw ids only, so the two cannot be confused.
    """

    ids: pl.Series

    def __post_init__(self) -> None:
        if self.ids.null_count() or self.ids.n_unique() != len(self.ids):
            raise RequestError("Vocabulary ids must be unique and not null; drop duplicates first.")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self):,} ids>"

    @classmethod
    def of(cls, raw: pl.Series) -> tuple[Self, Codes]:
        """Return the sorted distinct ids of a column, and the column as codes."""
        ids = raw.unique().sort().alias("id")
        vocabulary = cls(ids)
        return vocabulary, vocabulary.codes(raw)

    def codes(self, raw: pl.Series) -> Codes:
        """Return the code of each id, -1 for an unknown one.

        Integers are compared as integers, everything else by spelling: "7" matches 7, but "07" and
        7.0 do not. Different strings have different codes.
        """
        both_integer = self.ids.dtype.is_integer() and raw.dtype.is_integer()
        known = self.ids if both_integer else self.ids.cast(pl.String)
        table = pl.DataFrame({"id": known, "code": np.arange(len(self), dtype=np.int32)})
        codes = np.empty(len(raw), np.int32)
        for first in range(0, len(raw), LOOKED_UP):
            run = slice(first, first + LOOKED_UP)
            asked = pl.DataFrame({"id": raw[run].cast(known.dtype, strict=False)})
            joined = asked.join(table, on="id", how="left", maintain_order="left")
            codes[run] = joined["code"].fill_null(-1).to_numpy()
        return codes

    def code(self, raw: Any) -> int:
        """Return the code of one id, -1 for an unknown one."""
        return int(self.codes(pl.Series([raw]))[0])

    def same_as(self, other: "Vocabulary") -> bool:
        """Return whether both have the same ids in the same order."""
        return self is other or self.ids.equals(other.ids)

    def take(self, codes: Codes) -> pl.Series:
        """Return the raw ids of codes."""
        return self.ids.gather(codes)


def rows_by_id(table: pl.DataFrame, key: str, known: Vocabulary) -> pl.DataFrame:
    """Return the other columns of a table in the order of `known`, null for ids without a row.

    `key`: "user" or "item", the column of raw ids. Raises `RequestError` for a table without `key`
    or without other columns, with a known id twice, and without a known id.
    """
    if key not in table.columns or table.width < 2:
        raise RequestError(
            f"The {key} table must have a column {key} and at least one other column, got "
            f"{', '.join(table.columns) or 'no column'}."
        )
    codes = known.codes(table[key])
    rows = np.flatnonzero(codes >= 0)
    if len(rows) == 0:
        first = "".join(f" (the first is {each})" for each in table[key].head(1))
        raise RequestError(
            f"None of the {len(table):,} {key}s in the {key} table is known{first}; use a "
            f"table of the {key}s of the ratings."
        )
    again = rows[pl.Series(codes[rows]).is_duplicated().to_numpy()]
    if len(again):
        raise RequestError(
            f"The {key} {table[key][int(again[0])]} occurs twice in the {key} table; keep one row "
            f"per {key}."
        )
    order = np.full(len(known), -1)
    order[codes[rows]] = rows
    return table.drop(key).select(pl.all().gather(pl.Series(order).replace(-1, None)))


def as_integers(ids: pl.Series) -> pl.Series | None:
    """Convert ids to Int64 if all of them are canonical integers, else return None.

    The conversion is reversible, so integers can still be converted back to text when a later batch
    of the column contains another id.
    """
    integers = ids.cast(pl.Int64, strict=False)
    if ids.dtype.is_integer():
        return None if integers.null_count() > ids.null_count() else integers
    return integers if (integers.cast(pl.String) == ids).fill_null(False).all() else None


def strip_spaces(ids: pl.Series) -> tuple[pl.Series, int]:
    """Remove leading and trailing spaces; return the ids and how many changed."""
    if not isinstance(ids.dtype, pl.String):
        return ids, 0
    stripped = ids.str.strip_chars()
    return stripped, int((stripped != ids).sum())


def typed_ids(ids: pl.Series) -> pl.Series:
    """Infer the type of a complete id column: Int64 or String, without surrounding spaces."""
    plain, _ = strip_spaces(ids)
    integers = as_integers(plain)
    return plain.cast(pl.String) if integers is None else integers


def raw_ids(given: Any) -> pl.Series:
    """Return ids in a list, an array, or a polars or pandas series as a column of integers or text.

    Raises `RequestError` for anything else, such as floats, which could be truncated to other ids,
    and a frame, which would be read as its column names.
    """
    name = type(given).__name__
    if hasattr(given, "columns"):
        raise RequestError(NO_IDS.format(f"{name}; pass one of its columns"))
    plain = given.tolist() if hasattr(given, "tolist") else given
    try:
        if isinstance(plain, str | bytes):  # not a list of its characters
            raise TypeError
        column = plain if isinstance(plain, pl.Series) else pl.Series("id", list(plain))
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise RequestError(NO_IDS.format(name)) from None
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        column = column.cast(pl.String)
    kind = column.dtype
    if column.null_count() or not (kind.is_integer() or isinstance(kind, pl.String | pl.Null)):
        raise RequestError(NO_IDS.format(f"{name} of {kind}"))
    return column


def check_codes(column: str, codes: NDArray[Any], count: int) -> None:
    """Raise `RequestError` unless every code of the column is from 0 to `count` - 1."""
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < count:
        raise RequestError(
            f"{column} must be codes from 0 to {count - 1}, got {codes.min()} to {codes.max()}."
        )


class Vocabularies(Protocol):
    """Ratings, reports or evidence: their scale, users and items."""

    @property
    def scale(self) -> RatingScale:
        """Public rating scale."""
        ...

    @property
    def user_ids(self) -> Vocabulary:
        """All users, with or without ratings."""
        ...

    @property
    def item_ids(self) -> Vocabulary:
        """All items, with or without ratings."""
        ...
