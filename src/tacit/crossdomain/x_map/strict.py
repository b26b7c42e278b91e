"""X-Map with a valid guarantee: a private release of cross-domain item factors, and on-device
fold-in.

    x-map-strict   the bounded, noisy Gram matrix of co-ratings, and noisy item means
    x-map-factors  item factors of private alternating least squares, instead of the Gram matrix

Either is released once, over the items of all domains and for one target, at an (epsilon, delta)
per user, with joint accounting of all draws (`tacit.training`). Everything else is post-processing
without further cost: items have factors in a common space, a device solves its user's row from
ratings that never leave it, and the AlterEgo consists of the median of each target rating of that
user (`median_cuts`). It uses no neighbour's rating, no candidate set and no mean of true ratings.
"""

from dataclasses import dataclass

import numpy as np

from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.crossdomain.x_map.median_cuts import median_cuts, medians
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.models import Fitted, device_predict
from tacit.training import DPALS, DPCovariance
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.crossing import Crossing
from tacit.training.person.fitted_model import promise

CUTS = 0.05  # share of the budget
MOST_LEVELS = 20  # maximum number of levels for cuts
TIE = 1e-6  # weight of the score, which breaks ties between equal medians in lists


@dataclass(frozen=True, kw_only=True)
class StrictMap:
    """`training`: the trainer of the release. `delta`: a decimal string."""

    training: DPALS | DPCovariance
    delta: str = "1e-6"

    variant = None
    mode = "strict"

    @property
    def name(self) -> str:
        """Name in result rows."""
        return "x-map-strict" if isinstance(self.training, DPCovariance) else "x-map-factors"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`. Raises `RequestError` without an epsilon."""
        del engine  # the release is one pass of matrix products
        if epsilon is None:
            raise RequestError(f"{self.name} requires an epsilon per user, such as 8.")
        fitted, cuts = self.release(trial, epsilon, SecretReleases())
        ratings, levels = trial.domains.ratings, fitted.levels
        values = device_predict(fitted, ratings, trial.users, trial.items).astype(np.float64)
        if len(cuts):
            values = medians(values, cuts, levels) + TIE * (values - levels[-1])
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)

    def release(
        self, trial: Trial, epsilon: str, releases: NoisyReleases
    ) -> tuple[Fitted, Doubles]:
        """Return everything that the curator releases: the item side, and the cuts of its scores
        (`median_cuts`), none on a scale of many levels, where means are as accurate as medians.

        `epsilon`: nats per user, a decimal string. Raises `CertificateError` if the account does
        not balance.
        """
        account = Account(epsilon, self.delta, releases)
        domains, target = trial.domains, trial.target
        few = domains.ratings.scale.n_levels <= MOST_LEVELS
        if few:
            account.reserve("cuts", CUTS)
        links = np.zeros(domains.ratings.n_users, np.bool_)
        links[domains.straddlers(target)] = True
        inputs = Crossing(links, domains.of_item.astype(np.int64), target)
        side = self.training.learn(domains.ratings, account, crossing=inputs)
        at_home = side.fitted(promise(account))
        cuts = median_cuts(trial, links, at_home, account) if few else np.empty(0)
        return side.closed(account), cuts
