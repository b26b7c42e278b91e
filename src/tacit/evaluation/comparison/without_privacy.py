"""Metrics that compare a row with the same model without privacy.

They are computed after all rows, so that resumed runs have them as well.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import ResultRow
from tacit.metrics.slices import Slice


def beside_free(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Add `information_efficiency` to the rows, and `privacy_cost` to their slices.

    Each row is compared with that of the same model, location, seed and fold whose channel is
    `identity`. Without one, as for a trainer, both stay missing.
    """
    free = {_kind(row): row for row in rows if row.channel == IDENTITY}
    return [
        _compared(row, other) if (other := free.get(_kind(row))) is not None else row
        for row in rows
    ]


def information_efficiency(row: ResultRow, free: ResultRow) -> float:
    """Return the share of the information about items that the channel retains, 1 for all:

        (RMSE of the mean - RMSE) / (RMSE of the mean - RMSE of `free`)

    `free`: the same fold-in with item factors fitted to true ratings, on the same split. The mean
    is `rmse_of_mean`, the error of the mean of the true training ratings. Below 0 if the mean is
    better, above 1 if `free` is worse. NaN unless the row is a device's and `free` is better than
    the mean.
    """
    gain = free.rmse_of_mean - free.rmse
    if row.where != "device" or not gain > 0:
        return math.nan
    return (row.rmse_of_mean - row.rmse) / gain


def _kind(row: ResultRow) -> tuple[object, ...]:
    return row.dataset, row.model, row.where, row.seed, row.fold


def _compared(row: ResultRow, free: ResultRow) -> ResultRow:
    efficiency = information_efficiency(row, free)
    if row.slices is None:
        return replace(row, information_efficiency=efficiency)
    errors = {(part.by, part.decile): part.slice_rmse for part in free.slices or ()}
    costed = tuple(_costed(part, errors.get((part.by, part.decile))) for part in row.slices)
    return replace(row, information_efficiency=efficiency, slices=costed)


def _costed(part: Slice, free: float | None) -> Slice:
    return part if free is None else replace(part, privacy_cost=part.slice_rmse - free)
