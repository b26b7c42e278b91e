"""Ratings as frozen columns: user, item, level and time, with vocabularies."""

import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import DataError, RequestError, must_be, shown
from tacit.notebook import card
from tacit.privacy.guarantee import PARTS, Guarantee, Part
from tacit.scale import RatingScale
from tacit.vocabulary import Codes, Vocabulary, check_codes, raw_ids

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per rating: user `users[r]` gave item `items[r]` the level `levels[r]`.

    `users`, `items`: int32 codes in the vocabularies, shape (n,). `levels`: uint8 or uint16 indices
    in `scale.levels`, shape (n,). `times`: int64 Unix seconds, shape (n,), or None. A (user, item)
    pair occurs at most once. `undeclared`: public parts that were inferred from the ratings,
    because they were not declared, and reveal something about them. `held_out`: mask of the test
    rows of a published split, shape (n,), or None. `capped`: whether levels are counts of
    interactions, of which the highest level stands for all higher ones.
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
    capped: bool = False

    def __post_init__(self) -> None:
        if not len(self.users) == len(self.items) == len(self.levels):
            raise RequestError(
                f"The columns of ratings must have the same length, got {len(self.users)} users, "
                f"{len(self.items)} items and {len(self.levels)} levels."
            )

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def fingerprint(self) -> str:
        """Checksum of the rows, which depends on their order."""
        columns = [self.users, self.items, self.levels]
        columns += [] if self.held_out is None else [self.held_out]
        return "-".join(f"{zlib.crc32(column.tobytes()):08x}" for column in columns)

    @cached_property
    def checksum(self) -> str:
        """Checksum of everything that a result may depend on: rows, ids, times, scale, and what was
        declared."""
        ids = [vocabulary.ids for vocabulary in (self.user_ids, self.item_ids)]
        texts = [each.to_frame().write_csv() for each in ids]
        facts = (self.scale, [each.dtype for each in ids], sorted(self.undeclared), self.capped)
        times = b"" if self.times is None else self.times.tobytes()
        parts = (*(text.encode() for text in (*texts, str(facts))), times)
        return "-".join([self.fingerprint, *(f"{zlib.crc32(part):08x}" for part in parts)])

    def __repr__(self) -> str:
        return (
            f"<Ratings {self.name}: {len(self):,} by {self.n_users:,} users of "
            f"{self.n_items:,} items, scale {self.scale}>"
        )

    def _repr_html_(self) -> str:
        """Show counts, and no rating."""
        lines = (
            ("ratings", f"{len(self):,}"),
            ("users", f"{self.n_users:,}"),
            ("items", f"{self.n_items:,}"),
            ("scale", self.scale),
            ("times", "none" if self.times is None else "known"),
        )
        return card(f"Ratings {self.name}", lines)

    @property
    def n_users(self) -> int:
        """Number of users in the vocabulary, with or without ratings."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items in the vocabulary, with or without ratings."""
        return len(self.item_ids)

    @property
    def values(self) -> NDArray[np.float32]:
        """Rating of each row as a number, shape (n,)."""
        return np.asarray(self.scale.values, np.float32)[self.levels]

    def require_distinct_pairs(self) -> None:
        """Raise `RequestError` unless codes are in range and each (user, item) pair occurs once.

        The sensitivity proofs assume this, so it is checked wherever one of them applies.
        """
        check_codes("users", self.users, self.n_users)
        check_codes("items", self.items, self.n_items)
        check_codes("levels", self.levels, self.scale.n_levels)
        pair = self.users.astype(np.int64) * self.n_items + self.items
        if not (pair[1:] > pair[:-1]).all():
            pair.sort()
        if (pair[1:] == pair[:-1]).any():
            raise RequestError(
                f"{self.name} contains a (user, item) pair more than once, so a user's "
                "contribution is not bounded; keep one row per pair."
            )

    def require_rows(self) -> None:
        """Raise `RequestError` for an empty table."""
        if len(self) == 0:
            raise RequestError(f"{self.name} contains no rows; a model requires at least one.")

    def require_stars(self) -> None:
        """Raise `RequestError` for an empty table, and for interactions."""
        self.require_rows()
        self.scale.require_stars("A trainer that predicts ratings")

    def where(self, mask: Mask) -> Self:
        """Return the rows selected by a mask, with the same vocabularies.

        Raises `RequestError` for a mask of another length.
        """
        return self.take(rows_where(mask, len(self)))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the rows with these indices, in that order, with the same vocabularies."""
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            levels=self.levels[rows],
            times=None if self.times is None else self.times[rows],
            held_out=None if self.held_out is None else self.held_out[rows],
        )

    def by_person(self) -> Self:
        """Return the rows sorted by user, then by item.

        The order of a file can reveal ratings, because files may be sorted by rating or by time. It
        must not be the order of anything that is released.
        """
        pair = self.users.astype(np.int64) * self.n_items + self.items
        return self if (pair[1:] > pair[:-1]).all() else self.take(np.argsort(pair))

    def aligned(self, user_ids: Vocabulary, item_ids: Vocabulary) -> Self:
        """Return the rows whose user and item are in these vocabularies, encoded with them.

        Raises `RequestError` if there are ratings and none of them is.
        """
        if user_ids.same_as(self.user_ids) and item_ids.same_as(self.item_ids):
            return replace(self, user_ids=user_ids, item_ids=item_ids)
        users, items = user_ids.codes(self.user_ids.ids), item_ids.codes(self.item_ids.ids)
        kept = self.where((users[self.users] >= 0) & (items[self.items] >= 0))
        if len(self) and not len(kept):
            raise RequestError(
                f"{self.name} has no user and no item in common with the model; use the same ids "
                "in both."
            )
        return replace(
            kept,
            users=users[kept.users],
            items=items[kept.items],
            user_ids=user_ids,
            item_ids=item_ids,
        )

    def with_catalogue(self, items: Iterable[int | str]) -> Self:
        """Return the ratings of declared items, with these items as vocabulary.

        Ratings of other items are dropped, because a wider vocabulary would reveal that they exist.
        The result may be empty, because an error would reveal that no declared item was rated.
        Raises `DataError` for a catalogue without items.
        """
        vocabulary, codes = _declared("the catalogue", items, self.item_ids)
        known = self.take(np.flatnonzero(codes[self.items] >= 0))
        found = replace(known, items=codes[known.items], item_ids=vocabulary)
        return replace(found, undeclared=self.undeclared - {"catalogue"})

    def with_people(self, users: Iterable[int | str]) -> Self:
        """Return the ratings of declared users, with these users as vocabulary.

        All of them take part, with or without ratings. Ratings of others are dropped, and the
        result may be empty. Raises as `with_catalogue`.
        """
        vocabulary, codes = _declared("the list of users", users, self.user_ids)
        known = self.take(np.flatnonzero(codes[self.users] >= 0))
        found = replace(known, users=codes[known.users], user_ids=vocabulary)
        return replace(found, undeclared=self.undeclared - {"people"})

    def qualified(self, guarantee: Guarantee) -> Guarantee:
        """Return the guarantee of a release from these ratings, with the parts it does not cover
        and the maximum of counts.

        With the unit `value`, presence is public, and therefore the catalogue and the users, too.
        """
        if guarantee.epsilon is None:
            return replace(guarantee, uncovered=())
        shown = ("scale",) if guarantee.unit == "value" else PARTS
        return replace(
            guarantee,
            uncovered=self.uncovered(shown),
            assumptions=(*guarantee.assumptions, *self.assumptions),
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Conditions of a guarantee that these ratings add: the maximum of counts."""
        most = self.scale.levels[-1]
        return (f"counts above {most} are recorded as {most}",) if self.capped else ()

    def uncovered(self, shown: Collection[Part]) -> tuple[str, ...]:
        """Return the descriptions of those of these parts that were not declared."""
        undeclared = self.undeclared.intersection(shown)
        return tuple(words for part, words in PARTS.items() if part in undeclared)

    def to_polars(self) -> pl.DataFrame:
        """Return a frame of raw ids: user, item, rating (except interactions) and any timestamp."""
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
    """Return the indices of the rows selected by a mask of shape (n_rows,).

    Raises `RequestError` for a mask of another shape.
    """
    if np.shape(mask) != (n_rows,):
        raise RequestError(
            f"The mask must have one entry per row, shape ({n_rows},), got shape {np.shape(mask)}."
        )
    return np.flatnonzero(mask)


def _declared(what: str, ids: Iterable[int | str], seen: Vocabulary) -> tuple[Vocabulary, Codes]:
    """Return the declared ids as a vocabulary, and the code in it of each id in `seen`, or -1."""
    if isinstance(ids, str) or hasattr(ids, "columns"):
        got = shown(ids[:40] if isinstance(ids, str) else ids)
        raise RequestError(f"Expected a list of ids, got {got}; pass {what} as in ['a', 'b'].")
    must_be(Iterable, ids, "a list of ids", f"pass {what} as in ['a', 'b']")
    listed: list[Any] = list(ids)
    if not listed or None in listed:
        raise DataError(f"An id is missing in {what}, or the list is empty; write one id per line.")
    vocabulary, _ = Vocabulary.of(raw_ids(listed))
    return vocabulary, vocabulary.codes(seen.ids)
