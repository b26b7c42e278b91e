"""Choosing epsilon on private ratings: every query is noisy and has a privacy cost.

For each split and each epsilon, the training ratings are perturbed by the channel, a model is
fitted to the reports, and the sum of its squared errors on the test ratings is released with
Laplace noise:

    one test value       changes that sum by at most the squared range of the scale
    one training value   changes only its own report, which the channel protects

The second line requires predictions from reports only, as at the provider. A device and a curator
use true training ratings, each of which affects many errors. Both are therefore rejected.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.experiments.choice.tradeoff import Tradeoff
from tacit.experiments.tools import Floats, Tools
from tacit.metrics.split import SplitProtocol
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Ratings
from tacit.scale import shortest
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases

PROVIDER = "provider"
STEPS = 1 << 20
"""Grid steps per squared unit of the scale."""


@dataclass(frozen=True, kw_only=True)
class PrivateChoice:
    """A search: a model on reports through a channel, at `epsilons` in nats per rating value
    (decimal strings, at least two), on the splits of `protocol`."""

    channel: str
    model: str
    epsilons: Sequence[str]
    protocol: SplitProtocol

    @property
    def looks(self) -> int:
        """Number of model fits, each with a released error."""
        return len(self.epsilons) * len(list(self.protocol.places()))

    @property
    def guarantee(self) -> Guarantee:
        """Total privacy cost: every fit costs its epsilon, and every released error as well.

        A value is in the training or the test set of a split. Both costs are charged to it.
        """
        each = sum((Decimal(epsilon) for epsilon in self.epsilons), Decimal(0))
        total = 2 * len(list(self.protocol.places())) * each
        return Guarantee(
            epsilon=shortest(total),
            unit="value",
            trust="curator",
            released="the errors of every epsilon that was tried",
            assumptions=("nothing else was looked at to choose",),
        )

    def tradeoff(
        self,
        ratings: Ratings,
        tools: Tools,
        *,
        releases: NoisyReleases | None = None,
        advance: Callable[[int], None] = lambda done: None,
    ) -> Tradeoff:
        """Compute strength against loss from noisy errors only.

        No query is non-private: the largest epsilon replaces the non-private error, and half the
        range of the scale replaces the error of the mean. `releases`: replaced in tests only.
        `advance`: callback with the number of released errors. Raises `RequestError` for a model
        that does not predict at the provider, and for a single epsilon.
        """
        check_place(self.model, tools.where(self.model), PROVIDER)
        context = _Context(tools, SecretReleases() if releases is None else releases)
        # The order of a file may depend on the ratings, and then one value could affect the splits
        # of others. Sorting by user and item removes this.
        known, errors = ratings.by_person(), defaultdict[float, list[float]](list)
        for done, (epsilon, split) in enumerate(product(self.epsilons, self.protocol.places())):
            errors[float(epsilon)].append(self._error(known, *split, epsilon, context))
            advance(done + 1)
        least = fmean(errors[max(errors)])
        half = float(ratings.scale.high - ratings.scale.low) / 2
        return Tradeoff.of(errors, least=least, most=half, unit="value")

    def _error(
        self, ratings: Ratings, seed: int, fold: int | None, epsilon: str, context: "_Context"
    ) -> float:
        """Return the noisy RMSE of one fit."""
        held_out = self.protocol.test(ratings, seed, fold)
        train, test = ratings.where(~held_out), ratings.where(held_out)
        plan = context.tools.plan("rated", self.channel, epsilon, ratings.scale, None)
        # The model is fitted to the reports only, so that the channel's epsilon covers the effect
        # of a training value on the sum below.
        fitted = context.tools.fit(self.model, context.tools.perturb(train, plan), rng=seed)
        total, most = squared_errors(test, fitted.predict_codes(test.users, test.items))
        name = f"squared errors at {epsilon}, split {seed}" + (f".{fold}" if fold else "")
        noisy = context.releases.laplace(name, total, sensitivity=most, epsilon=epsilon)
        return float(np.sqrt(max(0.0, noisy[0] / STEPS / len(test))))


class _Context(NamedTuple):
    tools: Tools
    releases: NoisyReleases


def squared_errors(test: Ratings, predicted: Floats) -> tuple[NDArray[np.int64], int]:
    """Return the sum of squared errors in grid steps, shape (1,), and its sensitivity to one value.

    Each prediction is clipped to the scale and each error rounded to the grid, so that the bound
    holds in integers. Raises `RequestError` for a prediction that is not finite.
    """
    if not np.isfinite(predicted).all():
        raise RequestError("The model predicted a value that is not finite; choose another model.")
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
