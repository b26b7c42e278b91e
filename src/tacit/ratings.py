"""Ratings: who rated what, how and when, as frozen columns with a vocabulary."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.scale import RatingScale

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The raw ids of people or items, each once; a *code* is an id's row number in it.

    Codes never cross the public interface, so raw ids and row numbers cannot be confused.
    """

    ids: pl.Series

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, raw: pl.Series) -> tuple[Self, Codes]:
        """The sorted distinct ids of a column, and the column as codes."""
        ids = raw.unique().sort().alias("id")
        vocabulary = cls(ids)
        return vocabulary, vocabulary.codes(raw)

    def codes(self, raw: pl.Series) -> Codes:
        """The code of each id; -1 for an id that is not known."""
        table = pl.DataFrame({"id": self.ids, "code": np.arange(len(self), dtype=np.int32)})
        asked = pl.DataFrame({"id": raw.cast(self.ids.dtype, strict=False)})
        joined = asked.join(table, on="id", how="left", maintain_order="left")
        return joined["code"].fill_null(-1).to_numpy().astype(np.int32)

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
    A (person, item) pair occurs at most once.
    """

    users: Codes
    items: Codes
    levels: NDArray[np.unsignedinteger[Any]]
    scale: RatingScale
    user_ids: Vocabulary
    item_ids: Vocabulary
    times: NDArray[np.int64] | None = None
    name: str = "ratings"

    def __post_init__(self) -> None:
        if not len(self.users) == len(self.items) == len(self.levels):
            raise RequestError(
                f"Ratings need columns of one length, not {len(self.users)} users, "
                f"{len(self.items)} items and {len(self.levels)} levels."
            )

    def __len__(self) -> int:
        return len(self.users)

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

    def where(self, mask: Mask) -> Self:
        """The rows where `mask` holds; vocabularies stay whole, so codes keep their meaning."""
        return self.take(np.flatnonzero(mask))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """The rows of those numbers, in that order; vocabularies stay whole."""
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            levels=self.levels[rows],
            times=None if self.times is None else self.times[rows],
        )

    def by_person(self) -> Self:
        """The same rows by person, then by item: an order that says nothing of their values.

        The order of a file may (it may be sorted by rating, or by time), so nothing that was drawn
        from it leaves in its order.
        """
        pair = self.users.astype(np.int64) * self.n_items + self.items
        return self if (pair[1:] > pair[:-1]).all() else self.take(np.argsort(pair))

    def to_polars(self) -> pl.DataFrame:
        """Columns user, item, rating and, where known, timestamp, with raw ids."""
        columns: dict[str, Any] = {
            "user": self.user_ids.take(self.users),
            "item": self.item_ids.take(self.items),
            "rating": self.values,
        }
        if self.times is not None:
            columns["timestamp"] = self.times
        return pl.DataFrame(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)
