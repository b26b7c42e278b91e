"""One model over all domains as one catalogue: the effect of linking only."""

from dataclasses import dataclass, field

import numpy as np

from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.models import MF, AbstractModel, evidence
from tacit.ratings import Codes, Mask


@dataclass(frozen=True, kw_only=True)
class Merged:
    """`model`: fitted to all known ratings of all domains, including those of test users. Its item
    factors connect the domains."""

    model: AbstractModel = field(default_factory=MF)

    variant = None
    mode = "none"

    @property
    def name(self) -> str:
        """Name in result rows."""
        return f"{self.model.name}-merged"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del engine, epsilon  # in this process, without a guarantee
        fitted = self.model.fit(evidence(trial.domains.ratings))
        values = fitted.predict_codes(trial.users, trial.items).astype(np.float64)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)


def known(trial: Trial) -> Mask:
    """Return whether user and item both have a known rating, which makes a queried cell covered.

    Shape (n,).
    """
    ratings = trial.domains.ratings
    return (
        _any(ratings.users, ratings.n_users)[trial.users]
        & (_any(ratings.items, ratings.n_items)[trial.items])
    )


def _any(codes: Codes, count: int) -> Mask:
    return np.bincount(codes, minlength=count) > 0
