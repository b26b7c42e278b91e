"""X-Map whose promise holds: one release per person of what joins the domains; the rest at home.

    x-map-strict   the bounded, noisy Gram of what people rate together, and noisy item means
    x-map-factors  item factors of private alternating least squares, in the place of the Gram

Either is made once, over the items of all domains and for one target, at an (epsilon, delta) for
everything one person contributed, with all draws accounted for together (`tacit.training`). What
follows is arithmetic on released numbers and costs nothing: items have places in one space, a
device finds its owner's place from the owner's ratings, which never leave it, and the AlterEgo is
what the places of target items say of the owner: the median of each of their target ratings
(`median_cuts`). No neighbour's rating is in it, no candidate set, no mean of true ratings.
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

CUTS = 0.05  # of the budget
MOST_LEVELS = 20  # that have cuts
TIE = 1e-6  # what a score counts beside the median, so that lists rank items of one level by it


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
        """All that leaves the curator: an item side, and the cuts of its scores (`median_cuts`);
        none on a scale of many levels, whose means are as good as medians.

        `epsilon`: nats per person, a decimal string. Raises `CertificateError` where the account
        does not balance.
        """
        account = Account(epsilon, self.delta, releases)
        domains, target = trial.domains, trial.target
        few = domains.ratings.scale.n_levels <= MOST_LEVELS
        if few:
            account.reserve("cuts", CUTS)
        links = np.zeros(domains.ratings.n_users, np.bool_)
        links[domains.straddlers(target)] = True
        crossing = Crossing(links, domains.of_item.astype(np.int64), target)
        side = self.training.learn(domains.ratings, account, crossing=crossing)
        at_home = side.fitted(promise(account))
        cuts = median_cuts(trial, links, at_home, account) if few else np.empty(0)
        return side.closed(account), cuts
