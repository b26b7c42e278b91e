"""Interactions of which the whole 0/1 table is known."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from tacit.ratings import Ratings
from tacit.readers import from_frame
from tacit.vocabulary import Vocabulary


def world(table, first=0):
    """The interactions in a table of people by items; `first`: the first person's id."""
    users, items = np.nonzero(table)
    frame = pl.DataFrame({"user": users + first, "item": items})
    m, n = table.shape
    return from_frame(frame, scale="there", people=range(first, first + m), catalogue=range(n))


def renamed(own: Ratings, count: int) -> Iterator[Ratings]:
    """The same interactions of people with other ids, `count` times."""
    for draw in range(count):
        ids = pl.Series("id", range(1000 * draw, 1000 * draw + own.n_users))
        yield replace(own, user_ids=Vocabulary(ids))
