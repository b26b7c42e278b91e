"""Synthetic users of a forecast of shuffled messages, and the accuracy of each way on them.

A part of their interactions or ratings is held out, and the rest is on their devices.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import isqrt
from typing import NamedTuple

import numpy as np

from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.learners import fit
from tacit.metrics.lists import LENGTH, list_figures
from tacit.models.lists.item_weights import ItemWeights
from tacit.planning.population import MadeUpWorld
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.training import ShuffledCovariance, ShuffledEase, ShuffledItemMean, ShuffledPopularity
from tacit.training.person.fitted_model import ItemSide
from tacit.training.shuffled.settings import ShuffledSettings
from tacit.training.shuffled.signed_simulation import SignedDevices
from tacit.training.shuffled.simulation import SimulatedDevices

PlanOf = Callable[[ShuffledSettings], ShuffledPlan]
LISTS_WITHOUT_PRIVACY = ("popularity", "ease")
STARS_WITHOUT_PRIVACY = ("item-mean", "mf")
"""References, on the interactions or ratings of all simulated users."""


class ForecastTrial(NamedTuple):
    """One way on one world. `certificate`: None without privacy. `head`: items with pairs.

    `ndcg`: NDCG@20 of lists. `rmse`: of predicted ratings, in stars.
    """

    way: str
    certificate: ShuffledCertificate | None = None
    rounds: tuple[ShuffledRound, ...] = ()
    head: int = 0
    ndcg: float | None = None
    rmse: float | None = None


@dataclass(frozen=True, eq=False)
class ListWorld:
    """Synthetic interactions. `train`: on the devices. `test`: a fifth, held out."""

    train: Ratings
    test: Ratings

    def ndcg(self, weights: ItemWeights) -> float:
        """Return NDCG@20 of the lists that devices complete with these weights."""
        lists = replace(fit("popularity", self.train), weights=weights).lists(self.train, LENGTH)
        counts = np.bincount(self.train.items, minlength=self.train.n_items)
        return list_figures(lists, self.test.users, self.test.items, counts).ndcg

    def trials(self, messages: int, copies: int, plan_of: PlanOf) -> Iterator[ForecastTrial]:
        """Yield a trial per trainer, and per reference without privacy.

        `messages`: M of the trainers. `copies`: devices of a user. `plan_of`: plan of a trainer.
        """
        devices = SimulatedDevices.of(self.train, copies)
        for trainer in (ShuffledEase(messages=messages), ShuffledPopularity(messages=messages)):
            weights, rounds, certificate = trainer.learn(devices, plan_of(trainer))
            head = isqrt(2 * rounds[1].buckets) if len(rounds) > 1 else 0
            yield ForecastTrial(trainer.name, certificate, rounds, head, ndcg=self.ndcg(weights))
        for name in LISTS_WITHOUT_PRIVACY:
            yield ForecastTrial(name, ndcg=self.ndcg(fit(name, self.train).weights))


@dataclass(frozen=True, eq=False)
class StarWorld:
    """Synthetic star ratings, of which a tenth is held out."""

    ratings: MadeUpWorld

    def trials(self, messages: int, copies: int, plan_of: PlanOf) -> Iterator[ForecastTrial]:
        """Yield trials as `ListWorld.trials`."""
        train = self.ratings.own
        devices = SignedDevices.of(train, copies)
        for trainer in (ShuffledCovariance(messages=messages), ShuffledItemMean(messages=messages)):
            mu, items, rounds, certificate = trainer.learn(devices, plan_of(trainer))
            side = ItemSide(trainer.name, train, mu, items)
            error = self.ratings.error(side.fitted(certificate.guarantee))
            head = int(np.count_nonzero(items[:, 1:].any(1)))
            yield ForecastTrial(trainer.name, certificate, rounds, head, rmse=error)
        for name in STARS_WITHOUT_PRIVACY:
            yield ForecastTrial(name, rmse=self.ratings.error(fit(name, train, exposure=False)))
