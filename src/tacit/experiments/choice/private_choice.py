"""Choosing epsilon on private ratings: every query is noisy and has a privacy cost.

For each split and each epsilon, the training ratings are perturbed by the channel, a model is
fitted to the reports, and the sum of its squared errors on the test ratings is released with
Laplace noise:

    one test value       changes that sum by at most the squared range of the scale
    one training value   changes only its own report, which the channel protects

The second line requires predictions from reports only, as at the provider. A device and a curator
use true training ratings, each of which affects many errors. Both are therefore rejected.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from statistics import fmean
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.collection.named_plans import PlanMaker, plan_of
from tacit.collection.perturb import perturb
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.experiments.experiment import Experiment
from tacit.learners.learner import Learner, learner, plugged
from tacit.metrics.split import SplitProtocol
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.results.choice.tradeoff import Tradeoff
from tacit.results.records import checked, plain
from tacit.scale import RatingScale, shortest
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases

Floats = NDArray[np.floating[Any]]
PROVIDER = "provider"
STEPS = 1 << 20
"""Grid steps per squared unit of the scale."""


@dataclass(frozen=True, kw_only=True)
class ChoiceCell:
    """One split at one epsilon, in nats per rating value. Nothing of the ratings is in its key.

    `data`: the name of the ratings. `split`: what is held out, in words. `plugins`: of channel and
    model, None for built-in ones.
    """

    data: str
    scale: str
    channel: str
    model: str
    plugins: str | None
    split: str
    epsilon: str
    seed: int
    fold: int | None

    @property
    def key(self) -> str:
        """Unique key: one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def label(self) -> str:
        """Label in progress bars."""
        return f"epsilon {self.epsilon}, seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class NoisyError:
    """The released RMSE of one cell. `epsilon`: nats per rating value."""

    epsilon: float
    rmse: float

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, values, ()))


@dataclass(frozen=True, kw_only=True)
class PrivateChoice:
    """A search: a model on reports through a channel, at `epsilons` in nats per rating value
    (decimal strings, at least two), on the splits of `protocol`. `learner`: the learner of a name
    and mode. `make_plan`: the plan of a name, channel and epsilon."""

    channel: str
    model: str
    epsilons: Sequence[str]
    protocol: SplitProtocol
    learner: Callable[[str, str], Learner] = field(default=learner, repr=False)
    make_plan: PlanMaker = field(default=plan_of, repr=False)

    def guarantee(self, ratings: Ratings) -> Guarantee:
        """Return the total privacy cost: that of every fit, and that of every released error.

        A value is in the training or the test set of a split. Both costs are charged to it. A fit
        costs the epsilon of its table, which may exceed the requested one.
        """
        total = Decimal(0)
        for epsilon in self.epsilons:
            table = self.plan(epsilon, ratings.scale).guarantee.epsilon
            total += len(list(self.protocol.places())) * (Decimal(table or 0) + Decimal(epsilon))
        claim = Guarantee(
            epsilon=shortest(total),
            unit="value",
            trust="curator",
            released="the error at every epsilon on the grid",
            assumptions=("the choice depends only on these errors",),
        )
        return ratings.qualified(claim)

    def plan(self, epsilon: str, scale: RatingScale) -> Plan:
        """Return the plan of the fits at `epsilon`."""
        return self.make_plan("rated", self.channel, epsilon, scale, None)

    def experiment(
        self, ratings: Ratings, releases: NoisyReleases | None = None
    ) -> Experiment[ChoiceCell, NoisyError]:
        """Declare the experiment: a released error per epsilon and split.

        `releases`: replaced in tests only. Raises `RequestError` for a model that does not predict
        at the provider.
        """
        model = self.learner(self.model, "strict")
        check_place(self.model, model.where, PROVIDER)
        return Experiment(
            title="choosing",
            row=NoisyError,
            cells=[
                ChoiceCell(
                    data=ratings.name,
                    scale=str(ratings.scale),
                    channel=self.channel,
                    model=self.model,
                    plugins=plugged(self.channel, model),
                    split=self.protocol.words,
                    epsilon=epsilon,
                    seed=seed,
                    fold=fold,
                )
                for epsilon in self.epsilons
                for seed, fold in self.protocol.places()
            ],
            measure=_NoisyErrors(self, model, ratings, releases or SecretReleases()),
        )

    def tradeoff(self, rows: Sequence[NoisyError], scale: RatingScale) -> Tradeoff:
        """Return strength against loss from noisy errors only.

        The largest epsilon replaces the non-private error, and half the range of the scale replaces
        the error of the mean. Raises `RequestError` for a single epsilon.
        """
        errors = defaultdict[float, list[float]](list)
        for row in rows:
            errors[row.epsilon].append(row.rmse)
        least = fmean(errors[max(errors)])
        half = float(scale.high - scale.low) / 2
        return Tradeoff.of(errors, least=least, most=half, unit="value")


class _NoisyErrors:
    """Measures cells on private ratings. Every query is noisy."""

    def __init__(
        self, choice: PrivateChoice, model: Learner, ratings: Ratings, releases: NoisyReleases
    ) -> None:
        self._choice, self._learner, self._releases = choice, model, releases
        # The order of a file may depend on the ratings, and then one value could affect the splits
        # of others. Sorting by user and item removes this.
        self._ratings = ratings.by_person()

    def __call__(self, cell: ChoiceCell) -> list[NoisyError]:
        """Return the noisy RMSE of one fit."""
        held_out = self._choice.protocol.test(self._ratings, cell.seed, cell.fold)
        train, test = self._ratings.where(~held_out), self._ratings.where(held_out)
        plan = self._choice.plan(cell.epsilon, train.scale)
        # The model is fitted to the reports only, so that the channel's epsilon covers the effect
        # of a training value on the sum below.
        fitted = self._learner.fit(perturb(train, plan), rng=cell.seed)
        total, most = squared_errors(test, fitted.predict_codes(test.users, test.items))
        part = f".{cell.fold}" if cell.fold else ""
        name = f"squared errors at {cell.epsilon}, split {cell.seed}{part}"
        noisy = self._releases.laplace(name, total, sensitivity=most, epsilon=cell.epsilon)
        rmse = float(np.sqrt(max(0.0, noisy[0] / STEPS / len(test))))
        return [NoisyError(epsilon=float(cell.epsilon), rmse=rmse)]


def squared_errors(test: Ratings, predicted: Floats) -> tuple[NDArray[np.int64], int]:
    """Return the sum of squared errors in grid steps, shape (1,), and its sensitivity to one value.

    Each prediction is clipped to the scale and each error rounded to the grid, so that the bound
    holds in integers. Raises `RequestError` for a prediction that is not finite.
    """
    if not np.isfinite(predicted).all():
        raise RequestError("The model predicted a non-finite value; choose another model.")
    levels = np.asarray(test.scale.values)
    bounded = np.clip(predicted.astype(np.float64), levels[0], levels[-1])
    steps = np.rint((levels[test.levels] - bounded) ** 2 * STEPS).astype(np.int64)
    return steps.sum(keepdims=True), math.ceil((levels[-1] - levels[0]) ** 2 * STEPS)


def check_place(model: str, places: Sequence[str], wanted: str = PROVIDER) -> None:
    """Raise `RequestError` unless `wanted` is the provider and the model predicts there."""
    if wanted != PROVIDER or PROVIDER not in places:
        seen = wanted if wanted != PROVIDER else " and ".join(places)
        raise RequestError(
            f"Predictions of {model} at the {seen} use true training ratings. A "
            "single rating changes many errors, which the privacy cost does not "
            "cover. Choose epsilon on public or synthetic data, or use a model "
            "that predicts at the provider."
        )
