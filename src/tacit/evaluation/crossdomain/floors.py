"""Baselines of top-N lists in the target domain: random and popularity."""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.evaluation.comparison.tools import POPULARITY, RANDOM
from tacit.privacy.guarantee import NO_PRIVACY


@dataclass(frozen=True, kw_only=True)
class ListFloor:
    """Ranks items without predicting ratings: its scores have no rating error.

    `name`: "random", uniform with `seed`, or "popularity", the number of an item's known ratings in
    the target.
    """

    name: str
    seed: int

    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Return the scores of the queried cells, in the form of `System.predict`."""
        del engine, epsilon  # without a guarantee
        covered = np.zeros(len(trial.items), np.bool_)
        return TrialPredictions(Predicted(self._scores(trial), covered), NO_PRIVACY)

    def _scores(self, trial: Trial) -> Doubles:
        if self.name == RANDOM:
            return np.random.default_rng(self.seed).random(len(trial.items))
        ratings = trial.domains.ratings
        return np.bincount(ratings.items, minlength=ratings.n_items)[trial.items].astype(np.float64)


def list_floors(seed: int) -> tuple[ListFloor, ...]:
    """Return both baselines of a trial with that seed."""
    return tuple(ListFloor(name=name, seed=seed) for name in (RANDOM, POPULARITY))
