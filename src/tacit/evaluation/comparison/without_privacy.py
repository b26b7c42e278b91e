"""What a row says beside the same model without privacy: figures that need both rows.

They are worked out once the rows are there, so that an interrupted run that goes on has them too.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from tacit.evaluation.grid import IDENTITY
from tacit.evaluation.results import ResultRow
from tacit.metrics.slices import Slice


def beside_free(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """The rows with `information_efficiency`, and each slice with its `privacy_cost`.

    Each beside the row of the same model, place, seed and fold whose channel is `identity`. Where
    there is none, as for a training, both stay unknown.
    """
    free = {_kind(row): row for row in rows if row.channel == IDENTITY}
    return [
        _beside(row, other) if (other := free.get(_kind(row))) is not None else row for row in rows
    ]


def information_efficiency(row: ResultRow, free: ResultRow) -> float:
    """How much of what the ratings say about the items survives the channel, 1 for all of it:

        (RMSE of the mean - RMSE) / (RMSE of the mean - RMSE of `free`)

    `free` is the same device step with item factors learnt from true ratings, on the same split;
    the mean is `rmse_of_mean`, the error of predicting every test rating by the mean of the true
    training ratings. Below 0 where the mean is better, above 1 where `free` is worse. NaN where
    the row is not a device's, or `free` is not better than the mean.
    """
    worth = free.rmse_of_mean - free.rmse
    if row.where != "device" or not worth > 0:
        return math.nan
    return (row.rmse_of_mean - row.rmse) / worth


def _kind(row: ResultRow) -> tuple[object, ...]:
    return row.dataset, row.model, row.where, row.seed, row.fold


def _beside(row: ResultRow, free: ResultRow) -> ResultRow:
    found = information_efficiency(row, free)
    if row.slices is None:
        return replace(row, information_efficiency=found)
    errors = {(part.by, part.decile): part.slice_rmse for part in free.slices or ()}
    costed = tuple(_costed(part, errors.get((part.by, part.decile))) for part in row.slices)
    return replace(row, information_efficiency=found, slices=costed)


def _costed(part: Slice, free: float | None) -> Slice:
    return part if free is None else replace(part, privacy_cost=part.slice_rmse - free)
