"""One person's ranking of the whole catalogue, by a score of each item."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.ratings import Vocabulary


def ranked(
    items: Vocabulary, scores: NDArray[np.float32], n: int, exclude: pl.Series | None = None
) -> list[tuple[Any, float]]:
    """The n best items with their scores, best first, ties in the order of `items`.

    `scores`: shape (items,). `exclude`: raw ids not to rank; unknown ones are ignored.
    """
    left = np.ones(len(items), np.bool_)
    if exclude is not None:
        known = items.codes(exclude)
        left[known[known >= 0]] = False
    codes = np.flatnonzero(left).astype(np.int32)
    best = codes[np.argsort(-scores[codes], kind="stable")[:n]]
    return list(zip(items.take(best).to_list(), scores[best].tolist(), strict=True))
