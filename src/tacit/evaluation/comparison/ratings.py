"""Metrics of predicted ratings in a result row."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.results import STARS
from tacit.metrics.accuracy import mae, ranking, rmse
from tacit.metrics.slices import slices as slices_of
from tacit.ratings import Ratings

NO_RATINGS: dict[str, Any] = {**dict.fromkeys(STARS, math.nan), "predict_seconds": 0.0}
"""Columns of a list model."""


def rating_columns(
    predicted: NDArray[np.floating[Any]],
    train: Ratings,
    test: Ratings,
    relevant: float,
    *,
    slices: bool = False,
) -> dict[str, Any]:
    """Return columns of a result row. `predicted`: ratings of the test rows, shape (n,).

    Errors use predictions clipped to the scale. `relevant`: minimum rating of relevant items.
    Columns that need the non-private row are NaN here.
    """
    true = test.values
    best = ranking(test.users, test.items, predicted, true >= relevant)
    bounded = np.clip(predicted, float(test.scale.low), float(test.scale.high))
    mean = np.full(len(test), train.values.mean(dtype=np.float64))
    return {
        "rmse": rmse(true, bounded),
        "mae": mae(true, bounded),
        "rmse_of_mean": rmse(true, mean),
        "information_efficiency": math.nan,
        "precision_at_10": best.precision,
        "recall_at_10": best.recall,
        "f_score_at_10": best.f_score,
        "slices": slices_of(train, test, bounded) if slices else None,
    }
