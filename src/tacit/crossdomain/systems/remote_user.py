"""remote-user (Berkovsky, Kuflik and Ricci 2007): neighbours found in the sources, asked about the
target.

    t(A, B) = sum over source items of both (r_Ai - m_i)(r_Bi - m_i) / (|A| |B|)
    r_Ai    = own_A + sum over B of t(A, B) (r_Bi - own_B) / sum over B of t(A, B)

m is the mean of an item, |.| the norm over all of a person's source ratings, own the person's
mean over all that is known of them. Neighbours are the k people of highest t, above 0, among those
who rated anything in the target, ties to the lower code; B runs over those of them who rated i.
Where nobody did, the item's mean is predicted.
"""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.neighbours.recommender import Neighbours, compare_profiles, predict_by_people
from tacit.crossdomain.neighbours.target_profiles import elsewhere, own, whole
from tacit.crossdomain.systems.item_means import item_means
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.kernels.similar import Near
from tacit.privacy.guarantee import NO_PRIVACY


@dataclass(frozen=True, kw_only=True)
class RemoteUser:
    """`k`: neighbours. Raises `RequestError` for fewer than one."""

    k: int = 50

    name = "remote-user"
    variant = "user"
    mode = "none"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise RequestError(f"k must be at least 1, got {self.k}.")

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`."""
        del epsilon  # neighbours' ratings are read as they are: nothing is promised
        how = Neighbours(self.k)
        alike = compare_profiles(elsewhere(trial), trial, "user")
        asked = np.flatnonzero(trial.domains.members(trial.target)).astype(np.int32)
        near = alone_above(alike.nearest(trial.people, asked, how.wanted, engine))
        found = predict_by_people(own(trial), near, trial, how, engine, own=whole(trial))
        silent = item_means(trial.domains)[trial.items]
        values = np.where(found.covered, found.values, silent)
        return TrialPredictions(Predicted(values, found.covered), NO_PRIVACY)


def alone_above(near: Near) -> Near:
    """Neighbours of similarity above 0."""
    return near._replace(code=np.where(near.s > 0, near.code, np.int32(-1)))
