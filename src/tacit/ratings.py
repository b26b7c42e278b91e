"""Ratings: who rated what, how and when, as frozen columns with a vocabulary."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import DataError, RequestError
from tacit.given import must_be
from tacit.notebook import card
from tacit.privacy.guarantee import Guarantee
from tacit.scale import RatingScale

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
LOOKED_UP = 8_000_000  # ids at once, which are then several columns wide
Part = Literal["catalogue", "people", "scale"]
PARTS: dict[Part, str] = {
    "catalogue": "the catalogue",
    "people": "the set of people",
    "scale": "the rating scale",
}


NO_IDS = "A {} holds no ids; give a list of whole numbers or text, as the ratings have them."


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The raw ids of people or items, each once; a *code* is an id's row number in it.

    Codes never cross the public interface, so raw ids and row numbers cannot be confused.
    """

    ids: pl.Series

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
        """The code of each id; -1 for an id that is not known."""
        table = pl.DataFrame({"id": self.ids, "code": np.arange(len(self), dtype=np.int32)})
        codes = np.empty(len(raw), np.int32)
        for first in range(0, len(raw), LOOKED_UP):
            run = slice(first, first + LOOKED_UP)
            asked = pl.DataFrame({"id": raw[run].cast(self.ids.dtype, strict=False)})
            joined = asked.join(table, on="id", how="left", maintain_order="left")
            codes[run] = joined["code"].fill_null(-1).to_numpy()
        return codes

    def code(self, raw: Any) -> int:
        """The code of one id; -1 when it is not known."""
        return int(self.codes(pl.Series([raw]))[0])

    def take(self, codes: Codes) -> pl.Series:
        """The raw ids of codes."""
        return self.ids.gather(codes)


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row a rating. Row r says: person `users[r]` gave item `items[r]` level `levels[r]`.

    `users`, `items`: int32 codes into the vocabularies, shape (n,). `levels`: uint8 or uint16
    numbers into `scale.levels`, shape (n,). `times`: int64 Unix seconds, shape (n,), or None.
    A (person, item) pair occurs at most once. `undeclared`: which parts of the question nobody
    declared, so that they were taken from the ratings and show something of them. `held_out`: which
    rows a published split keeps for the test, shape (n,), where a reader was asked, else None.
    """

    users: Codes
    items: Codes
    levels: NDArray[np.unsignedinteger[Any]]
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    times: NDArray[np.int64] | None = None
    name: str = "ratings"
    undeclared: frozenset[Part] = frozenset({"catalogue", "people"})
    held_out: Mask | None = None

    def __post_init__(self) -> None:
        if not len(self.users) == len(self.items) == len(self.levels):
            raise RequestError(
                f"Ratings need columns of one length, not {len(self.users)} users, "
                f"{len(self.items)} items and {len(self.levels)} levels."
            )

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return (
            f"<Ratings {self.name}: {len(self):,} by {self.n_users:,} people of "
            f"{self.n_items:,} items, scale {self.scale}>"
        )

    def _repr_html_(self) -> str:
        """How many there are of what; no rating, as in `repr`."""
        lines = (
            ("ratings", f"{len(self):,}"),
            ("people", f"{self.n_users:,}"),
            ("items", f"{self.n_items:,}"),
            ("scale", self.scale),
            ("times", "none" if self.times is None else "known"),
        )
        return card(f"Ratings {self.name}", lines)

    @property
    def n_users(self) -> int:
        """People in the vocabulary, rated or not."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Items in the vocabulary, rated or not."""
        return len(self.item_ids)

    @property
    def values(self) -> NDArray[np.float32]:
        """The rating of each row as a number on the scale, shape (n,)."""
        return np.asarray(self.scale.values, np.float32)[self.levels]

    def require_rows(self) -> None:
        """Raise `RequestError` where there is no rating to learn from."""
        if len(self) == 0:
            raise RequestError(f"{self.name} holds no rows; a model needs at least one.")

    def require_stars(self) -> None:
        """Raise `RequestError` where there is no rating to learn from, or only interactions."""
        self.require_rows()
        self.scale.require_stars("A training that predicts ratings")

    def where(self, mask: Mask) -> Self:
        """The rows where `mask` holds; vocabularies stay whole, so codes keep their meaning.

        Raises `RequestError` for a mask of another length.
        """
        return self.take(rows_where(mask, len(self)))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """The rows of those numbers, in that order; vocabularies stay whole."""
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            levels=self.levels[rows],
            times=None if self.times is None else self.times[rows],
            held_out=None if self.held_out is None else self.held_out[rows],
        )

    def by_person(self) -> Self:
        """The same rows by person, then by item: an order that says nothing of their values.

        The order of a file may (it may be sorted by rating, or by time), so nothing that was drawn
        from it leaves in its order.
        """
        pair = self.users.astype(np.int64) * self.n_items + self.items
        return self if (pair[1:] > pair[:-1]).all() else self.take(np.argsort(pair))

    def with_catalogue(self, items: Iterable[int | str]) -> Self:
        """The ratings of declared items: the vocabulary is theirs, whatever was rated.

        Ratings of other items are dropped: to keep one would show that somebody rated it. Raises
        `DataError` for a catalogue without items, and where none of the ratings is of it.
        """
        vocabulary, codes = _declared("the catalogue", items, self.item_ids)
        known = self.take(np.flatnonzero(codes[self.items] >= 0))
        found = replace(known, items=codes[known.items], item_ids=vocabulary)
        return found._declaring("catalogue")

    def with_people(self, users: Iterable[int | str]) -> Self:
        """The ratings of declared people; each of them takes part, rated or not.

        Ratings of others are dropped. Raises as `with_catalogue` does.
        """
        vocabulary, codes = _declared("the list of people", users, self.user_ids)
        known = self.take(np.flatnonzero(codes[self.users] >= 0))
        found = replace(known, users=codes[known.users], user_ids=vocabulary)
        return found._declaring("people")

    def qualified(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee of a release made from these ratings, with what it does not cover.

        At the unit `value` who rated what is public, and with it catalogue and people.
        """
        shown = {"scale"} if guarantee.unit == "value" else PARTS.keys()
        gaps = tuple(words for part, words in PARTS.items() if part in self.undeclared & shown)
        return replace(guarantee, uncovered=gaps if guarantee.epsilon is not None else ())

    def _declaring(self, part: Part) -> Self:
        if len(self) == 0:
            raise DataError(
                f"{self.name} holds no rating of {PARTS[part]} that was declared; see whether ids "
                "are written alike."
            )
        return replace(self, undeclared=self.undeclared - {part})

    def to_polars(self) -> pl.DataFrame:
        """Columns user, item, rating (but of interactions) and, where known, timestamp; raw ids."""
        columns: dict[str, Any] = {
            "user": self.user_ids.take(self.users),
            "item": self.item_ids.take(self.items),
        }
        if not self.scale.has_one_level:
            columns["rating"] = self.values
        if self.times is not None:
            columns["timestamp"] = self.times
        return pl.DataFrame(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)


def rows_where(mask: Mask, n_rows: int) -> NDArray[np.intp]:
    """The numbers of the rows where `mask` holds, which has one answer for each of `n_rows`.

    Raises `RequestError` for any other: its rows would be those of something else.
    """
    if np.shape(mask) != (n_rows,):
        raise RequestError(
            f"A mask of shape {np.shape(mask)} is not one of {n_rows} rows; give each row its own."
        )
    return np.flatnonzero(mask)


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


def _declared(what: str, ids: Iterable[int | str], seen: Vocabulary) -> tuple[Vocabulary, Codes]:
    """The declared ids, and the code among them of each id that was seen, -1 for none."""
    if isinstance(ids, str):
        raise RequestError(f"'{ids[:40]}' is no list of ids; give {what} as one.")
    must_be(Iterable, ids, "list of ids", f"give {what} as one")
    series = pl.Series("id", list(ids))
    if len(series) == 0 or series.null_count():
        raise DataError(f"In {what} an id is missing, or all are; give one a line.")
    vocabulary, _ = Vocabulary.of(series)
    return vocabulary, vocabulary.codes(seen.ids)
