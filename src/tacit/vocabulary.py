"""Raw ids of people and items: their type, and their places in a vocabulary.

Ids are names. A column of them is text unless every id is a plain whole number of 64 bits, written
as Python writes it: 0010, +7 and 1e5 are text, and so is 10 beside any of them. Blanks around an
id are dropped and counted; nothing else changes a spelling. This rule holds for every file and
frame that ids come from.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError

Codes = NDArray[np.int32]
LOOKED_UP = 8_000_000  # ids at once, which are then several columns wide
NO_IDS = "A {} holds no ids; give a list of whole numbers or text, as the ratings have them."


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The raw ids of people or items, each once; a *code* is an id's row number in it.

    Codes never cross the public interface, so raw ids and row numbers cannot be confused.
    """

    ids: pl.Series

    def __post_init__(self) -> None:
        if self.ids.null_count() or self.ids.n_unique() != len(self.ids):
            raise RequestError(
                "A vocabulary needs each id once, and none missing; drop repeated ids first."
            )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self):,} ids>"

    @classmethod
    def of(cls, raw: pl.Series) -> tuple[Self, Codes]:
        """The sorted distinct ids of a column, and the column as codes."""
        ids = raw.unique().sort().alias("id")
        vocabulary = cls(ids)
        return vocabulary, vocabulary.codes(raw)

    def codes(self, raw: pl.Series) -> Codes:
        """The code of each id; -1 for an id that is not known.

        Whole numbers are compared as numbers. Anything else is compared by spelling, so that the
        text "7" is the number 7, and neither "07" nor 7.0 is: two spellings never share a code.
        """
        whole = self.ids.dtype.is_integer() and raw.dtype.is_integer()
        known = self.ids if whole else self.ids.cast(pl.String)
        table = pl.DataFrame({"id": known, "code": np.arange(len(self), dtype=np.int32)})
        codes = np.empty(len(raw), np.int32)
        for first in range(0, len(raw), LOOKED_UP):
            run = slice(first, first + LOOKED_UP)
            asked = pl.DataFrame({"id": raw[run].cast(known.dtype, strict=False)})
            joined = asked.join(table, on="id", how="left", maintain_order="left")
            codes[run] = joined["code"].fill_null(-1).to_numpy()
        return codes

    def code(self, raw: Any) -> int:
        """The code of one id; -1 when it is not known."""
        return int(self.codes(pl.Series([raw]))[0])

    def same_as(self, other: "Vocabulary") -> bool:
        """Whether both have the same ids in the same order."""
        return self is other or self.ids.equals(other.ids)

    def take(self, codes: Codes) -> pl.Series:
        """The raw ids of codes."""
        return self.ids.gather(codes)


def as_numbers(ids: pl.Series) -> pl.Series | None:
    """The ids as Int64 where each is a plain whole number, else None.

    The spelling of a plain number survives the way there and back, so ids that were read as
    numbers can still become text when a later id of the column is none.
    """
    numbers = ids.cast(pl.Int64, strict=False)
    if ids.dtype.is_integer():
        return None if numbers.null_count() > ids.null_count() else numbers
    return numbers if (numbers.cast(pl.String) == ids).fill_null(False).all() else None


def without_blanks(ids: pl.Series) -> tuple[pl.Series, int]:
    """The ids without blanks around them, and how many had some."""
    if not isinstance(ids.dtype, pl.String):
        return ids, 0
    stripped = ids.str.strip_chars()
    return stripped, int((stripped != ids).sum())


def typed_ids(ids: pl.Series) -> pl.Series:
    """A whole column of ids as Int64 or as text, without blanks around them."""
    plain, _ = without_blanks(ids)
    numbers = as_numbers(plain)
    return plain.cast(pl.String) if numbers is None else numbers


def raw_ids(given: Any) -> pl.Series:
    """Ids in a list, an array, or a polars or pandas series, as a column of whole numbers or text.

    Raises `RequestError` for anything else: a fraction would be cut down to another's id.
    """
    name = type(given).__name__
    plain = given.tolist() if hasattr(given, "tolist") else given
    try:
        if isinstance(plain, str | bytes):  # letters are no ids
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
            f"{column} must hold codes from 0 to {count - 1}, got {codes.min()} to {codes.max()}."
        )
