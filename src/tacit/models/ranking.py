"""People's rankings of the whole catalogue, by a score of each item."""

import logging
from collections.abc import Callable, Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.ratings import Codes
from tacit.readers import titles as titles_of
from tacit.readers.frame import as_lazy
from tacit.vocabulary import Vocabulary, raw_ids

Floats = NDArray[np.float32]
Id = int | str | np.integer[Any]
Notify = Callable[[str], None]
tell: Notify = logging.getLogger("tacit.models").warning
"""Where a sentence goes that nobody asked to hear."""


def is_id(given: object) -> bool:
    """Whether it is one raw id, and not many."""
    return isinstance(given, int | str | np.integer)


def ranked(
    items: Vocabulary, scores: Floats, n: int, exclude: Iterable[Any] | None = None
) -> list[tuple[Any, float]]:
    """The n best items with their scores, best first, ties in the order of `items`.

    `scores`: shape (items,). `exclude`: raw ids not to rank; unknown ones are ignored. Raises
    `RequestError` for an n that is no whole number above 0.
    """
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise RequestError(f"n must be an integer of at least 1, got {n!r}.")
    left = np.ones(len(items), np.bool_)
    if exclude is not None:
        known = items.codes(raw_ids(exclude))
        left[known[known >= 0]] = False
    codes = np.flatnonzero(left).astype(np.int32)
    best = codes[np.argsort(-scores[codes], kind="stable")[:n]]
    return list(zip(items.take(best).to_list(), scores[best].tolist(), strict=True))


def say_unknown(people: pl.Series, codes: Codes, what_now: str, notify: Notify | None) -> None:
    """Tell how many of the people sent nothing, the first of them, and `what_now`."""
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
    """Columns user, item and `figure`: everybody's list under the one before, best first."""
    rows = [
        (user, item, value)
        for user, best in zip(people.to_list(), lists, strict=True)
        for item, value in best
    ]
    types = {"user": people.dtype, "item": items.ids.dtype, figure: pl.Float32()}
    return pl.DataFrame(rows, types, orient="row")


def with_titles(found: pl.DataFrame, titles: object) -> pl.DataFrame:
    """The frame with a column title after item, missing where none is known.

    `titles`: a frame with the columns item and title, or a path that `tacit.readers.titles` reads.
    Raises `RequestError` for anything else.
    """
    given: Any = titles_of(titles) if isinstance(titles, str | Path) else titles
    if not {"item", "title"} <= set(getattr(given, "columns", ())):
        raise RequestError(
            "titles must be a frame with the columns item and title, or a file such as "
            f"movies.csv, got {type(given).__name__}."
        )
    kind = found.schema["item"]
    known = as_lazy(given).select(pl.col("item").cast(kind, strict=False), "title").collect()
    joined = found.join(known.unique("item", keep="first"), on="item", how="left",
                        maintain_order="left")  # fmt: skip
    user, item, figure = found.columns
    return joined.select(user, item, "title", figure)
