"""Prediction errors on held-out ratings."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.trial import Predicted
from tacit.errors import RequestError
from tacit.scale import RatingScale


class Score(NamedTuple):
    """Mean absolute errors in units of the scale, and the share of `covered` ratings."""

    mae: float
    mae_rounded: float
    coverage: float


def score(hidden: NDArray[np.float32], predicted: Predicted, scale: RatingScale) -> Score:
    """Return the errors of predictions clipped to the scale, unrounded and rounded to the nearest
    level, ties upwards.

    `hidden`: shape (n,). Raises `RequestError` for a prediction that is not finite.
    """
    require_finite(predicted)
    low, high, step = (float(part) for part in (scale.low, scale.high, scale.step))
    clipped = np.clip(predicted.values, low, high)
    nearest = low + step * np.floor((clipped - low) / step + 0.5)
    true = hidden.astype(np.float64)
    return Score(
        mae=float(np.abs(true - clipped).mean()),
        mae_rounded=float(np.abs(true - np.minimum(nearest, high)).mean()),
        coverage=float(predicted.covered.mean()),
    )


def require_finite(predicted: Predicted) -> None:
    """Raise `RequestError` for a prediction that is infinite or NaN."""
    if not np.isfinite(predicted.values).all():
        raise RequestError("The system predicted a rating that is not finite.")
