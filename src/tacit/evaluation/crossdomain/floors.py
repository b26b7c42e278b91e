"""Floors under lists of the target's catalogue: at random, and what most people rated there."""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.evaluation.comparison.request import POPULARITY, RANDOM
from tacit.privacy.guarantee import NO_PRIVACY


@dataclass(frozen=True, kw_only=True)
class ListFloor:
    """Ranks items without predicting ratings: what it tells are scores, and errors of them none.

    `name`: "random", drawn evenly by `seed`, or "popularity", how many known ratings of the target
    an item has.
    """

    name: str
    seed: int

    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Scores of the asked cells, as `System.predict` gives ratings."""
        del engine, epsilon  # nothing is promised
        covered = np.zeros(len(trial.items), np.bool_)
        return TrialPredictions(Predicted(self._scores(trial), covered), NO_PRIVACY)

    def _scores(self, trial: Trial) -> Doubles:
        if self.name == RANDOM:
            return np.random.default_rng(self.seed).random(len(trial.items))
        ratings = trial.domains.ratings
        return np.bincount(ratings.items, minlength=ratings.n_items)[trial.items].astype(np.float64)


def list_floors(seed: int) -> tuple[ListFloor, ...]:
    """Both floors of a trial drawn by `seed`."""
    return tuple(ListFloor(name=name, seed=seed) for name in (RANDOM, POPULARITY))
