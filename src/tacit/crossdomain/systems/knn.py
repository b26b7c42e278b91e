"""Item-based neighbourhoods without translation, in the target only or across all domains.

knn-single  neighbours and profile from the target: item means for users without target ratings
knn-linked  neighbours of a target item are co-rated items of any domain
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
    """`linked`: whether to use all domains as one. `k`, `damping`: as for `Neighbours`."""

    linked: bool = False
    k: int = 50
    damping: int = 50

    variant = "item"
    mode = "none"

    @property
    def name(self) -> str:
        """Name in result rows."""
        return "knn-linked" if self.linked else "knn-single"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del epsilon  # without a guarantee
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
