"""Trainers of star ratings from shuffled messages: shuffled-item-mean and shuffled-covariance.

Devices send messages about their users' items, each with a sign, and then about pairs of the most
rated items (`tacit.training.shuffled.signed_simulation`). The provider has counts alone. The
trainers simulate all devices, under the assumptions of `tacit.training.shuffled.settings`.

A sign doubles the buckets of a round, and leaves the own buckets of a device distinct, so the
guarantee is that of unsigned messages. Dummies are uniform over both signs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.collection.shuffled_plan import ShuffledPlan
from tacit.errors import whole
from tacit.models.fitted import Fitted
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.shuffler.heads import MOST_STAR_ITEMS, announced_round, following_round
from tacit.training.mechanism.contributions import require_vocabularies
from tacit.training.person.covariance import most_rated
from tacit.training.person.fitted_model import ItemSide
from tacit.training.shuffled.settings import check_settings, plan_for
from tacit.training.shuffled.signed_estimates import (
    factor_rows,
    item_sums,
    pair_sums,
    shrunk_means,
    with_factors,
)
from tacit.training.shuffled.signed_simulation import SignedDevices

Advance = Callable[[float], None]


class CollectedStars(NamedTuple):
    """Items as in `ItemSide`, with the rounds and the certificate as in `Collected`."""

    mu: float
    items: NDArray[np.float64]
    rounds: tuple[ShuffledRound, ...]
    certificate: ShuffledCertificate


@dataclass(frozen=True, kw_only=True)
class ShuffledItemMean:
    """Private item means without a curator: one round of shuffled messages about signed items.

    `messages`: M of the plan. A device sends at most as many items as have 3 M pairs. `honest`:
    least fraction of honest bundles. `turnout`: least bundles in a batch over the number of users.

    Raises `RequestError` for settings out of range.
    """

    messages: int = 100
    honest: float = 0.8
    turnout: float = 0.7

    name = "shuffled-item-mean"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        check_settings(self)

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Advance = lambda done: None,
    ) -> Fitted:
        """Simulate the round at `epsilon` nats per user and `delta`, decimal strings.

        All draws are secret, so `rng` is ignored. Raises `RequestError` for an invalid `epsilon` or
        `delta`, for a delta above .01 over the bundles, and without users or items.
        """
        return _fitted(self, ratings, epsilon, delta)

    def learn(self, devices: SignedDevices, plan: ShuffledPlan) -> CollectedStars:
        """Return the item means from one simulated round of the plan."""
        only = plan.only_round()
        sums = item_sums(devices.item_counts(only), devices.items)
        mu, biases = shrunk_means(sums, devices.ratings.half)
        return CollectedStars(mu, biases[:, None], (only,), plan.certificate((only,)))


@dataclass(frozen=True, kw_only=True)
class ShuffledCovariance:
    """Item factors without a curator: shuffled messages about signed items, then signed pairs.

    `messages`: pairs that a device sends at most. `most_dummies`: largest number of dummies per
    device about pairs, which bounds the head. `most_items`: most items with factors, by count;
    memory is quadratic in it. `honest`: least fraction of honest bundles. `turnout`: least bundles
    in a batch over the number of users.

    Raises `RequestError` for settings out of range.
    """

    messages: int = 100
    most_dummies: int = 2000
    most_items: int = MOST_STAR_ITEMS
    honest: float = 0.8
    turnout: float = 0.7

    name = "shuffled-covariance"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        check_settings(self)
        whole("most_dummies", self.most_dummies, 1)
        whole("most_items", self.most_items, 2)

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Advance = lambda done: None,
    ) -> Fitted:
        """Simulate both rounds at `epsilon` nats per user and `delta`, decimal strings.

        All draws are secret, so `rng` is ignored. Raises `RequestError` for an invalid `epsilon` or
        `delta`, for a delta above .01 over the bundles, and without users or items.
        """
        return _fitted(self, ratings, epsilon, delta)

    def learn(self, devices: SignedDevices, plan: ShuffledPlan) -> CollectedStars:
        """Return item means and factors from two simulated rounds of the plan.

        If pairs are not expected to improve on item means, the only round is about items. If the
        counts of items show that no pair would exceed its noise, no round about pairs follows.
        """
        announced = announced_round(plan, self.most_dummies, self.most_items)
        if announced is None:
            return ShuffledItemMean(messages=self.messages).learn(devices, plan)
        first, half = plan.item_round(), devices.ratings.half
        certificate = plan.certificate((first, announced))
        sums = item_sums(devices.item_counts(first), devices.items)
        means = shrunk_means(sums, half)
        follows = following_round(
            sums.messages,
            announced,
            bundles=devices.people,
            devices=certificate.devices,
            most_dummies=self.most_dummies,
            signed=True,
            most_items=self.most_items,
        )
        if follows is None:
            return CollectedStars(means.mu, means.biases[:, None], (first,), certificate)
        size, second = follows
        head = most_rated(sums.messages, size)
        rows = factor_rows(pair_sums(devices.pair_counts(second, head, means), size), half)
        items = with_factors(means.biases, np.flatnonzero(head), rows)
        return CollectedStars(means.mu, items, (first, second), certificate)


def _fitted(
    trainer: ShuffledItemMean | ShuffledCovariance, ratings: Ratings, epsilon: str, delta: str
) -> Fitted:
    require_vocabularies(ratings)
    ratings.scale.require_stars("A trainer that predicts ratings")
    devices = SignedDevices.of(ratings)
    plan = plan_for(trainer, devices.people, devices.items, epsilon, delta, signed=True)
    mu, items, _, certificate = trainer.learn(devices, plan)
    return ItemSide(trainer.name, ratings, mu, items).fitted(certificate.guarantee)
