"""Rankings of the complete catalogue by item scores, per user."""

import logging
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError, integer, shown
from tacit.kernels.layout import Side
from tacit.kernels.ranking.topk import BLOCK_BYTES, Scorer, best_lists
from tacit.ratings import Codes
from tacit.readers import titles as titles_of
from tacit.readers.frame import as_lazy
from tacit.vocabulary import Vocabulary, raw_ids

Floats = NDArray[np.float32]
Id = int | str | np.integer[Any]
Notify = Callable[[str], None]
Similarities = NDArray[np.float64] | Floats
warn: Notify = logging.getLogger("tacit.models").warning
"""Default receiver of notices."""


def is_id(argument: object) -> bool:
    """Return whether the argument is one raw id."""
    return isinstance(argument, int | str | np.integer)


def is_one(user: object, titles: object) -> bool:
    """Return whether `user` is one raw id. Raises `RequestError` for one with `titles`."""
    if is_id(user) and titles is not None:
        raise RequestError("titles applies to a list of users, as in recommend([1], titles=..).")
    return is_id(user)


def checked_length(n: object, most: int) -> int:
    """Return the length of a list of at most `most` items. Raises `RequestError` unless n is an
    integer of at least 1."""
    return min(integer("n", n, 1), most)


def same_for_all(
    items: Vocabulary,
    exclude: Iterable[Any] | None,
    people: int,
    candidates: Iterable[Any] | None = None,
) -> Side:
    """Return the same excluded items for each of `people` users: those of `exclude`, and all that
    are not among `candidates`. Unknown raw ids are ignored.

    Raises `RequestError` if no candidate is known.
    """
    none: Codes = np.empty(0, np.int32)
    known = none if exclude is None else items.codes(raw_ids(exclude))
    if candidates is not None:
        known = np.concatenate([known, _all_but(items, candidates)])
    known = np.unique(known[known >= 0])
    start = np.arange(people + 1, dtype=np.int64) * len(known)
    return Side(start, np.tile(known, people), np.arange(start[-1], dtype=np.int32))


def known_item(items: Vocabulary, item: object) -> int:
    """Return the code of one raw id. Raises `RequestError` unless it is an item of the model."""
    code = int(items.codes(raw_ids([item]))[0]) if is_id(item) else -1
    if code < 0:
        raise RequestError(f"item must be the id of an item of the model, got {shown(item)}.")
    return code


def most_similar(
    items: Vocabulary, similarity: Similarities, item: int, n: object
) -> list[tuple[Any, float]]:
    """Return the n items of highest similarity with it, without `item` itself; ties by code."""
    others = same_for_all(items, items.take(np.array([item], np.int32)), 1)
    scores = similarity.astype(np.float32)[None]
    best = best_with_scores(scores.__getitem__, others, len(items), checked_length(n, len(items)))
    return RankedLists(raw_ids([0]), items, *best).first()


def largest(ids: pl.Series, contributions: Similarities, n: object) -> list[tuple[Any, float]]:
    """Return the n largest contributions with their ids, ties in the order of `ids`."""
    order = np.argsort(-contributions, kind="stable")[: checked_length(n, len(ids))]
    return list(zip(ids.gather(order).to_list(), contributions[order].tolist(), strict=True))


def _all_but(items: Vocabulary, candidates: Iterable[Any]) -> Codes:
    raw = raw_ids(candidates)
    codes = items.codes(raw)
    if not (codes >= 0).any():
        raise RequestError(
            f"candidates must contain at least one item of the model, got {len(raw)} unknown "
            "items; use the ids of the catalogue."
        )
    return np.setdiff1d(np.arange(len(items), dtype=np.int32), codes).astype(np.int32)


def every_item(predict: Callable[[Codes, Codes], Floats], users: Codes, n_items: int) -> Scorer:
    """Return the predictions of all items by these users, for slices of them."""
    every = np.arange(n_items, dtype=np.int32)

    def score(some: slice) -> Floats:
        mine = users[some]
        predicted = predict(np.repeat(mine, n_items), np.tile(every, len(mine)))
        return predicted.reshape(len(mine), n_items)

    return score


def expected_gain(exposures: Floats, ratings: Floats, levels: NDArray[np.float64]) -> Floats:
    """Return exposures times the position of the ratings on the scale, 0 to 1, by `levels`.

    An exposure of at most 0 means unlikely, and a high rating must not change that: it is returned
    unchanged. The arrays have the same shape.
    """
    low, high = np.float32(levels[0]), np.float32(levels[-1])
    share = np.clip((ratings - low) / (high - low), 0, 1)
    return np.where(exposures > 0, exposures * share, exposures)


def best_with_scores(score: Scorer, excluded: Side, n_items: int, n: int) -> tuple[Codes, Floats]:
    """Return codes as `best_lists`, with their scores, -inf where padded; shape (users, n)."""
    people = len(excluded.counts)
    codes = np.full((people, n), -1, np.int32)
    scores = np.full((people, n), -np.inf, np.float32)
    size = max(1, BLOCK_BYTES // (4 * max(1, n_items)))
    for first in range(0, people, size):
        some = slice(first, min(first + size, people))
        block, rows = score(some), rows_of(excluded, some)
        codes[some] = best_lists(block.__getitem__, rows, n_items, n)
        best = np.take_along_axis(block, np.maximum(codes[some], 0), 1)
        scores[some] = np.where(codes[some] >= 0, best, np.float32(-np.inf))
    return codes, scores


def rows_of(side: Side, some: slice) -> Side:
    """Return some rows of `side`, without a copy of their cells."""
    return Side(side.start[some.start : some.stop + 1], side.other, side.cell)


class RankedLists(NamedTuple):
    """Lists of many users. `users`: raw ids, shape (m,).

    `codes`: of `items`, best first, padded with -1; `scores`: of the same items; shape (m, n).
    """

    users: pl.Series
    items: Vocabulary
    codes: Codes
    scores: Floats

    def first(self) -> list[tuple[Any, float]]:
        """Return the first user's items with their scores."""
        codes = self.codes[0][self.codes[0] >= 0]
        return list(zip(self.items.take(codes).to_list(), self.scores[0].tolist(), strict=False))

    def frame(self, figure: str) -> pl.DataFrame:
        """Return columns user, item and `figure`: the lists of all users, best first."""
        row, rank = np.nonzero(self.codes >= 0)
        return pl.DataFrame(
            {
                "user": self.users.gather(row),
                "item": self.items.take(self.codes[row, rank]),
                figure: self.scores[row, rank],
            }
        )


def say_unknown(people: pl.Series, codes: Codes, what_now: str, notify: Notify | None) -> None:
    """Notify of users without reports: their number, the first of them, and `what_now`."""
    unknown = people.filter(codes < 0)
    if len(people) == len(unknown) == 1:
        (notify or warn)(f"No reports from user '{unknown[0]}'; {what_now}.")
    elif len(unknown):
        (notify or warn)(
            f"No reports from {len(unknown)} of {len(people)} users (the first is '{unknown[0]}'); "
            f"{what_now}."
        )


def of_kind(frame: pl.DataFrame, users: object) -> Any:
    """Return the frame in pandas if `users` is of pandas, otherwise unchanged."""
    if type(users).__module__.partition(".")[0] != "pandas":
        return frame
    pandas: Any = import_module("pandas")
    return pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


def with_titles(frame: pl.DataFrame, titles: object) -> pl.DataFrame:
    """Insert a column title after item, null where unknown; without `titles` none.

    `titles`: a frame with the columns item and title, or a path that `tacit.readers.titles` reads.
    Items are matched by the spelling of their ids.
    Raises `RequestError` for anything else.
    """
    if titles is None:
        return frame
    table: Any = titles_of(titles) if isinstance(titles, str | Path) else titles
    if not {"item", "title"} <= set(getattr(table, "columns", ())):
        raise RequestError(
            "titles must be a frame with the columns item and title, or a file such as "
            f"movies.csv, got {type(table).__name__}."
        )
    spelling = pl.col("item").cast(pl.String)
    known = as_lazy(table).select(spelling, "title").collect().unique("item", keep="first")
    joined = frame.join(known, left_on=spelling, right_on="item", how="left", maintain_order="left")
    user, item, figure = frame.columns
    return joined.select(user, item, "title", figure)
