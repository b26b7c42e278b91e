"""Interactions of which the whole 0/1 table is known."""

import numpy as np
import polars as pl

from tacit.readers import from_frame


def world(table, first=0):
    """The interactions in a table of people by items; `first`: the first person's id."""
    users, items = np.nonzero(table)
    frame = pl.DataFrame({"user": users + first, "item": items})
    m, n = table.shape
    return from_frame(frame, scale="there", people=range(first, first + m), catalogue=range(n))
