"""emcdr (Man, Shen, Jin and Cheng 2017), linear: a map between the user factors of two domains.

Separate matrix factorizations give user rows x (bias and factors) in the sources and z in the
target. Straddlers have both, and the map is the ridge regression

    A = argmin sum over straddlers |z_u - A (1, x_u)|^2 + ridge |A|^2.

The row of a test user in the target is A (1, x_u), without the target ratings that the user kept.
Without privacy. The paper's nonlinear map, a network, is not implemented.

taste-map: an AlterEgo from all ratings of a user jointly, through factors common to all domains.

X-Map replaces single items. Here the items of all domains have factors in a common space
(`channel-mf` on true ratings). A profile in any domain gives a posterior of the user's factors, and
of each target rating. The prediction is its median, which minimizes the expected absolute error.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.crossdomain.systems.item_means import alone
from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.models import MF, AbstractModel, ChannelMF, evidence


@dataclass(frozen=True, kw_only=True)
class EMCDR:
    """`model`: a model with one draw, fitted to the sources and to the target. `ridge`: of the map,
    in units of users."""

    model: AbstractModel = field(default_factory=MF)
    ridge: float = 1.0

    name = "emcdr"
    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del engine, epsilon  # in this process, without a guarantee
        domains = trial.domains
        source = self.model.fit(evidence(domains.where(~trial.in_target).ratings))
        target = self.model.fit(evidence(alone(domains, trial.target)))
        shared = np.setdiff1d(domains.straddlers(trial.target), trial.people)
        rows = source.people[0].astype(np.float64)
        through = linear_map(rows[shared], target.people[0][shared], self.ridge)
        mapped = np.column_stack([np.ones(len(rows)), rows])[trial.users] @ through
        its = target.items[0][trial.items - np.int32(domains.bounds[trial.target])]
        values = target.mu[0] + mapped[:, 0] + its[:, 0]
        values += np.einsum("nk,nk->n", mapped[:, 1:], its[:, 1:])
        return TrialPredictions(Predicted(values, known(trial)), target.guarantee)


def linear_map(rows: Doubles, onto: NDArray[np.float32], ridge: float) -> Doubles:
    """Return the map A from `rows` (n, W) to `onto` (n, V), constant first, shape (1 + W, V)."""
    X = np.column_stack([np.ones(len(rows)), rows])
    solution = np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ onto)
    return np.asarray(solution, np.float64)


@dataclass(frozen=True, kw_only=True)
class TasteMap:
    """`model`: a model with posterior draws of user and item factors. By default it does not use
    implicit feedback (`directions=0`): test users have no visible target ratings because these are
    hidden, and users of a single domain may not use the other."""

    model: AbstractModel = field(default_factory=lambda: ChannelMF(directions=0))

    name = "taste-map"
    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Predict as `System.predict`."""
        del engine, epsilon  # in this process, without a guarantee
        fitted = self.model.fit(evidence(trial.domains.ratings))
        values = fitted.median(trial.users, trial.items)
        return TrialPredictions(Predicted(values, known(trial)), fitted.guarantee)
