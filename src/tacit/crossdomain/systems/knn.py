"""Item neighbours without any translation: within the target alone, or among all domains' items.

knn-single  neighbours and profile from the target: silent about who rated nothing there
knn-linked  neighbours of a target item are items of any domain that the same people rated
"""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.neighbours.recommender import (
    Neighbours,
    compare_profiles,
    predict_by_items,
    target_items,
)
from tacit.crossdomain.neighbours.target_profiles import TargetProfiles, own, whole
from tacit.crossdomain.trial import Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.privacy.guarantee import NO_PRIVACY


@dataclass(frozen=True, kw_only=True)
class KNN:
    """`linked`: all domains as one. `k`, `damping`: as those of `Neighbours`."""

    linked: bool = False
    k: int = 50
    damping: int = 50

    variant = "item"
    mode = "none"

    @property
    def name(self) -> str:
        """As in the results."""
        return "knn-linked" if self.linked else "knn-single"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`."""
        del epsilon  # nothing is promised
        how = Neighbours(self.k, 0.0, self.damping)
        profile: TargetProfiles = whole(trial) if self.linked else own(trial)
        columns = (
            np.arange(trial.domains.ratings.n_items, dtype=np.int32)
            if self.linked
            else target_items(trial)
        )
        alike = compare_profiles(profile, trial, "item")
        near = alike.nearest(target_items(trial), columns, how.wanted, engine)
        return TrialPredictions(predict_by_items(profile, near, trial, how, engine), NO_PRIVACY)
