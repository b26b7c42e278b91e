"""emcdr (Man, Shen, Jin and Cheng 2017): factors per domain, and a map of people's from one to the
other, here the linear one.

    min over M of sum over straddlers ||t_u - (1, s_u) M||^2 + ridge ||M||^2
    r_ui = mu + b_i + (1, (1, s_u) M) . (b_u, q_i)

s and t are people's rows, own level and factors, of `model` fitted to the source and to the target
alone. The ridge is in people: it is multiplied by the mean square of the source's columns, since
factors have no scale of their own. The constant is not held.
"""

from dataclasses import dataclass, field

import numpy as np

from tacit.crossdomain.systems.item_means import alone
from tacit.crossdomain.systems.merged import known
from tacit.crossdomain.trial import Doubles, Predicted, Trial, TrialPredictions
from tacit.engines.engine import Engine
from tacit.kernels.predict import bilinear
from tacit.models import MF, AbstractModel, evidence
from tacit.privacy.guarantee import NO_PRIVACY


@dataclass(frozen=True, kw_only=True)
class EMCDR:
    """`model`: a point estimate, fitted to the target and to all sources as one. `ridge`: of the
    map, in people."""

    model: AbstractModel = field(default_factory=MF)
    ridge: float = 10.0

    name = "emcdr"
    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """As `System.predict`."""
        del engine, epsilon  # alternating least squares are compiled; nothing is promised
        domains, target = trial.domains, trial.target
        elsewhere = self.model.fit(evidence(domains.where(~trial.in_target).ratings))
        there = self.model.fit(evidence(alone(domains, target)))
        source = elsewhere.people[0].astype(np.float64)
        straddling = domains.straddlers(target)
        told = there.people[0][straddling].astype(np.float64)
        mapped = with_constant(source) @ linear_map(source[straddling], told, self.ridge)
        first = np.int32(domains.bounds[target])
        values = bilinear(
            trial.users,
            trial.items - first,
            float(there.mu[0]),
            mapped.astype(np.float32),
            there.items[0],
        )
        return TrialPredictions(Predicted(values.astype(np.float64), known(trial)), NO_PRIVACY)


def linear_map(source: Doubles, target: Doubles, ridge: float) -> Doubles:
    """M, shape (1 + columns of source, columns of target); rows of both are the same people's."""
    x = with_constant(source)
    held = np.full(x.shape[1], ridge * float(np.mean(source**2)) if source.size else 0.0)
    held[0] = 0.0
    found = np.linalg.lstsq(x.T @ x + np.diag(held), x.T @ target)[0]
    return np.asarray(found, np.float64)


def with_constant(rows: Doubles) -> Doubles:
    """A column of ones before the others."""
    return np.insert(rows, 0, 1.0, axis=1)
