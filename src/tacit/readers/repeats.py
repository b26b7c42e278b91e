"""Repeated (user, item) rows: the latest is kept, or their interaction counts are added."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.ratings import Mask, Ratings
from tacit.readers.format import Notify


def without_repeats(ratings: Ratings, where: str, notify: Notify) -> Ratings:
    """Return one row per (user, item) pair, the latest, with a notice."""
    keep = last_of_each(ratings)
    if keep is None:
        return ratings
    dropped = len(ratings) - int(keep.sum())
    rule = "the latest of each" if ratings.times is not None else "the last row of each"
    notify(f"{where}: {dropped:,} repeated (user, item) rows were dropped; {rule} was kept.")
    return ratings.where(keep)


def with_counts(
    ratings: Ratings, counts: NDArray[np.floating[Any]], where: str, notify: Notify
) -> Ratings:
    """Return one row per (user, item) pair, with the sum of its counts as level.

    `counts`: of each row, positive integers, shape (n,). The highest level of the scale stands for
    all higher sums, so that one user's level of an item is bounded whatever their number of rows.
    The time is that of the latest row. Raises `DataError` for a pair in both parts of a split.
    """
    most = ratings.scale.n_levels
    _, code = np.unique(_pairs(ratings), return_inverse=True)
    _require_one_part(ratings, code, where)
    sums = np.bincount(code, weights=counts)
    levels = (np.minimum(sums, most) - 1).astype(ratings.levels.dtype)
    if above := int((sums > most).sum()):
        notify(f"{where}: {above:,} of {len(sums):,} counts above {most} are recorded as {most}.")
    keep = last_of_each(ratings)
    summed = replace(ratings, levels=levels[code], capped=True)
    return summed if keep is None else summed.where(keep)


def last_of_each(ratings: Ratings) -> Mask | None:
    """Return the mask of rows to keep, one per (user, item) pair. None to keep all.

    The row with the latest time is kept, the last in file order among equal times or without times.
    """
    pair = _pairs(ratings)
    ordered = np.sort(pair)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(repeated):
        return None
    rows = np.flatnonzero(np.isin(pair, repeated))
    times = rows if ratings.times is None else ratings.times[rows]
    order = np.lexsort((rows, times, pair[rows]))
    last = np.append(np.diff(pair[rows][order]) != 0, True)
    keep = np.ones(len(pair), np.bool_)
    keep[rows[order][~last]] = False
    return keep


def _pairs(ratings: Ratings) -> NDArray[np.int64]:
    return ratings.users.astype(np.int64) * ratings.n_items + ratings.items


def _require_one_part(ratings: Ratings, code: NDArray[np.intp], where: str) -> None:
    """Raise `DataError` if a pair has rows in both parts of a published split."""
    if ratings.held_out is None:
        return
    known = np.bincount(code, weights=~ratings.held_out) > 0
    tested = np.bincount(code, weights=ratings.held_out) > 0
    if both := int((known & tested).sum()):
        raise DataError(
            f"{where}: {both:,} (user, item) pairs have rows in both parts of the split, so their "
            "counts cannot be added; put all rows of a pair in one part."
        )
