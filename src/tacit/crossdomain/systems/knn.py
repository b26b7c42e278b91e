"""Item-based neighbourhoods without translation, in the target only or across all domains.

knn-single  neighbours and profile from the target: item means for users without target ratings
knn-linked  neighbours of a target item are co-rated items of any domain

remote-user (Berkovsky, Kuflik and Ricci 2007): neighbours by source ratings, predictions from
their target ratings.

    t(A, B) = sum over source items of both (r_Ai - m_i)(r_Bi - m_i) / (|A| |B|)
    r_Ai    = own_A + sum over B of t(A, B) (r_Bi - own_B) / sum over B of t(A, B)

m is the mean of an item, |.| the norm over all of a user's source ratings, own the user's mean
over all known ratings. Neighbours are the k users with the highest positive t among those with
target ratings, ties to the lower index. B runs over those of them who rated i. Without one, the
prediction is the item mean.
"""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.neighbours import (
    Neighbours,
    TargetProfiles,
    all_ratings,
    compare_profiles,
    elsewhere,
    own,
    predict_by_items,
    predict_by_people,
    target_items,
)
from tacit.crossdomain.systems.item_means import item_means
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.kernels.neighbourhood.search_results import Near
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
        trial.require_stars()
        how = Neighbours(self.k, 0.0, self.damping)
        profile: TargetProfiles = all_ratings(trial) if self.linked else own(trial)
        columns = (
            np.arange(trial.domains.ratings.n_items, dtype=np.int32)
            if self.linked
            else target_items(trial)
        )
        alike = compare_profiles(profile, trial, "item")
        near = alike.nearest(target_items(trial), columns, how.wanted, engine)
        return TrialPredictions(predict_by_items(profile, near, trial, how, engine), NO_PRIVACY)


@dataclass(frozen=True, kw_only=True)
class RemoteUser:
    """`k`: number of neighbours. Raises `RequestError` for fewer than one."""

    k: int = 50

    name = "remote-user"
    variant = "user"
    mode = "none"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise RequestError(f"k must be at least 1, got {self.k}.")

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del epsilon  # without a guarantee: neighbours' ratings are not perturbed
        trial.require_stars()
        how = Neighbours(self.k)
        alike = compare_profiles(elsewhere(trial), trial, "user")
        candidates = np.flatnonzero(trial.domains.members(trial.target)).astype(np.int32)
        near = alone_above(alike.nearest(trial.people, candidates, how.wanted, engine))
        predicted = predict_by_people(own(trial), near, trial, how, engine, own=all_ratings(trial))
        silent = item_means(trial.domains)[trial.items]
        values = np.where(predicted.covered, predicted.values, silent)
        return TrialPredictions(Predicted(values, predicted.covered), NO_PRIVACY)


def alone_above(near: Near) -> Near:
    """Return the neighbours with positive similarity."""
    return near._replace(code=np.where(near.s > 0, near.code, np.int32(-1)))
