"""X-Map whose promise holds: one release per person of what joins the domains; the rest at home.

    x-map-strict   the bounded, noisy Gram of what people rate together, and noisy item means
    x-map-factors  item factors of private alternating least squares, in the place of the Gram

Either is made once, over the items of all domains, at an (epsilon, delta) for everything one
person contributed, with all draws accounted for together (`tacit.training`). What follows is
arithmetic on released numbers and costs nothing: items have places in one space, a device finds its
owner's place from the owner's ratings, which never leave it, and the AlterEgo is what the places of
target items say of the owner: a law of their rating, whose median is predicted, since no other
guess has a smaller absolute error. No neighbour's rating is in it, no candidate set, no mean of
true ratings.
"""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.models import at_home
from tacit.training import DPALS, DPCovariance


@dataclass(frozen=True, kw_only=True)
class StrictMap:
    """`training`: what is released. `delta`: a decimal string."""

    training: DPALS | DPCovariance
    delta: str = "1e-6"

    variant = None
    mode = "strict"

    @property
    def name(self) -> str:
        """As in the results."""
        return "x-map-strict" if isinstance(self.training, DPCovariance) else "x-map-factors"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`; raises `RequestError` without an epsilon."""
        del engine  # the release is one pass of matrix products
        if epsilon is None:
            raise RequestError(f"{self.name} keeps an epsilon per person; give one, such as 8.")
        ratings = trial.domains.ratings
        links = np.zeros(ratings.n_users, np.bool_)
        links[trial.domains.straddlers(trial.target)] = True
        fitted = self.training.fit(ratings, epsilon=epsilon, delta=self.delta, links=links)
        values = at_home(fitted, ratings).median(trial.users, trial.items)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)
