"""One model over all domains as if they were one catalogue: what linking is worth by itself."""

from dataclasses import dataclass, field

import numpy as np

from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.models import MF, AbstractModel, evidence
from tacit.ratings import Codes, Mask


@dataclass(frozen=True, kw_only=True)
class Merged:
    """`model`: fitted to everybody's known ratings of every domain; tested people are rows of it
    like all others, solved from what is known of them. Its items' factors join the domains."""

    model: AbstractModel = field(default_factory=MF)

    variant = None
    mode = "none"

    @property
    def name(self) -> str:
        """As in the results."""
        return f"{self.model.name}-merged"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`."""
        del engine, epsilon  # alternating least squares are compiled; nothing is promised
        fitted = self.model.fit(evidence(trial.domains.ratings))
        values = fitted.predict_codes(trial.users, trial.items).astype(np.float64)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)


def known(trial: Trial) -> Mask:
    """Where person and item both have a known rating: which asked cells are covered.

    Shape (asked,).
    """
    ratings = trial.domains.ratings
    return (
        _any(ratings.users, ratings.n_users)[trial.users]
        & (_any(ratings.items, ratings.n_items)[trial.items])
    )


def _any(codes: Codes, count: int) -> Mask:
    return np.bincount(codes, minlength=count) > 0
