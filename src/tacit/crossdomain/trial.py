"""Trials: known ratings of several domains, and hidden ratings to predict."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Mask
from tacit.scale import RatingScale

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trial:
    """Known ratings, and the cells to predict.

    `domains`: the known ratings. `target`: index of the target domain. All others are sources.
    `people`: the test users, shape (p,). `users`, `items`: indices of the hidden ratings, shape
    (n,). The protocol keeps their values.
    """

    domains: Domains
    target: int
    people: Codes
    users: Codes
    items: Codes

    def require_stars(self) -> None:
        """Raise `RequestError` for implicit feedback, which has no ratings to predict."""
        self.domains.ratings.scale.require_stars("A system that predicts ratings across domains")

    @property
    def in_target(self) -> Mask:
        """Mask of the known ratings in the target domain."""
        return self.domains.rows(self.target)


class Predicted(NamedTuple):
    """Predictions of the queried cells, shape (n,). `covered`: whether a prediction uses more than
    the item mean."""

    values: Doubles
    covered: Mask


class TrialPredictions(NamedTuple):
    """Predictions of a system, with their guarantee."""

    predicted: Predicted
    guarantee: Guarantee


class System(Protocol):
    """Settings of a cross-domain system.

    `name`: as in result rows ("nx-map", "item-average"). `variant`: "item" or "user" for item-based
    or user-based systems, otherwise None. `mode`: "strict", "faithful", or "none" without privacy.
    """

    @property
    def name(self) -> str:
        """Name in result rows."""
        ...

    @property
    def variant(self) -> str | None:
        """ "item" or "user", or None."""
        ...

    @property
    def mode(self) -> str:
        """ "strict", "faithful", or "none"."""
        ...

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict the queried cells. `epsilon`: nats, a decimal string, None in the mode "none"."""
        ...


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
        raise RequestError("The system predicted a non-finite rating.")
