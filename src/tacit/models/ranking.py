"""Rankings of the complete catalogue by item scores, per user."""

import logging
from collections.abc import Callable, Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError, shown
from tacit.ratings import Codes
from tacit.readers import titles as titles_of
from tacit.readers.frame import as_lazy
from tacit.vocabulary import Vocabulary, raw_ids

Floats = NDArray[np.float32]
Id = int | str | np.integer[Any]
Notify = Callable[[str], None]
tell: Notify = logging.getLogger("tacit.models").warning
"""Default receiver of notices."""


def is_id(argument: object) -> bool:
    """Return whether the argument is one raw id."""
    return isinstance(argument, int | str | np.integer)


def ranked(
    items: Vocabulary, scores: Floats, n: int, exclude: Iterable[Any] | None = None
) -> list[tuple[Any, float]]:
    """Return the n best items with their scores, best first, ties in the order of `items`.

    `scores`: shape (items,). `exclude`: raw ids not to rank; unknown ones are ignored. Raises
    `RequestError` for an n that is not an integer of at least 1.
    """
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise RequestError(f"n must be an integer of at least 1, got {shown(n)}.")
    left = np.ones(len(items), np.bool_)
    if exclude is not None:
        known = items.codes(raw_ids(exclude))
        left[known[known >= 0]] = False
    codes = np.flatnonzero(left).astype(np.int32)
    best = codes[np.argsort(-scores[codes], kind="stable")[:n]]
    return list(zip(items.take(best).to_list(), scores[best].tolist(), strict=True))


def say_unknown(people: pl.Series, codes: Codes, what_now: str, notify: Notify | None) -> None:
    """Notify of users without reports: their number, the first of them, and `what_now`."""
    unknown = people.filter(codes < 0)
    if len(people) == len(unknown) == 1:
        (notify or tell)(f"'{unknown[0]}' sent no report; {what_now}.")
    elif len(unknown):
        (notify or tell)(
            f"{len(unknown)} of {len(people)} users sent no report (the first is '{unknown[0]}'); "
            f"{what_now}."
        )


def table(
    people: pl.Series, lists: Iterable[list[tuple[Any, float]]], items: Vocabulary, figure: str
) -> pl.DataFrame:
    """Return columns user, item and `figure`: the lists of all users, best first."""
    rows = [
        (user, item, value)
        for user, best in zip(people.to_list(), lists, strict=True)
        for item, value in best
    ]
    types = {"user": people.dtype, "item": items.ids.dtype, figure: pl.Float32()}
    return pl.DataFrame(rows, types, orient="row")


def with_titles(frame: pl.DataFrame, titles: object) -> pl.DataFrame:
    """Insert a column title after item, null where unknown.

    `titles`: a frame with the columns item and title, or a path that `tacit.readers.titles` reads.
    Raises `RequestError` for anything else.
    """
    table: Any = titles_of(titles) if isinstance(titles, str | Path) else titles
    if not {"item", "title"} <= set(getattr(table, "columns", ())):
        raise RequestError(
            "titles must be a frame with the columns item and title, or a file such as "
            f"movies.csv, got {type(table).__name__}."
        )
    kind = frame.schema["item"]
    known = as_lazy(table).select(pl.col("item").cast(kind, strict=False), "title").collect()
    joined = frame.join(known.unique("item", keep="first"), on="item", how="left",
                        maintain_order="left")  # fmt: skip
    user, item, figure = frame.columns
    return joined.select(user, item, "title", figure)
