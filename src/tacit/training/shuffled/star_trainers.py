"""Trainers for star ratings from shuffled messages: shuffled-item-mean and shuffled-covariance.

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

from tacit.collection.shuffled.heads import MOST_STAR_ITEMS, announced_round, following_round
from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.errors import integer
from tacit.models.fitted import Fitted
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
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
    """Item model as in `ItemSide`, with rounds and certificate as in `trainers.Collected`."""

    mu: float
    items: NDArray[np.float64]
    rounds: tuple[ShuffledRound, ...]
    certificate: ShuffledCertificate


@dataclass(frozen=True, kw_only=True)
class ShuffledItemMean:
    """Item means without a curator, from one round of shuffled messages about items with a sign.

    `messages`: M of the plan. A device sends at most n items, the smallest n with n (n - 1) / 2 >=
    3 M: 25 for M = 100. `honest`: minimum fraction of honest bundles. `turnout`: minimum number of
    bundles in a batch, as a fraction of the number of users.

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
        """Simulate the round at `epsilon` nats per user and `delta`, and return the fitted model.

        `epsilon`, `delta`: decimal strings. The default delta is too large above about 14,000
        users. `rng`: ignored, because all draws are secret. `advance`: not called. Raises
        `RequestError` for an invalid `epsilon` or `delta`, a delta above .01 over the minimum
        number of bundles, implicit feedback, and ratings without users or items.
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
    """Item factors without a curator: shuffled messages about items, then pairs, with signs.

    `messages`: maximum number of pairs that a device sends. `most_dummies`: maximum number of its
    dummies about pairs, which bounds the head. `most_items`: maximum number of items with factors,
    the most rated ones; memory is quadratic in it. `honest`: minimum fraction of honest bundles.
    `turnout`: minimum number of bundles in a batch, as a fraction of the number of users.

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
        integer("most_dummies", self.most_dummies, 1)
        integer("most_items", self.most_items, 2)

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Advance = lambda done: None,
    ) -> Fitted:
        """Simulate both rounds at `epsilon` nats per user and `delta`, and return the fitted model.

        `epsilon`, `delta`: decimal strings. The default delta is too large above about 14,000
        users. `rng`: ignored, because all draws are secret. `advance`: not called. Raises
        `RequestError` for an invalid `epsilon` or `delta`, a delta above .01 over the minimum
        number of bundles, implicit feedback, and ratings without users or items.
        """
        return _fitted(self, ratings, epsilon, delta)

    def learn(self, devices: SignedDevices, plan: ShuffledPlan) -> CollectedStars:
        """Return item means and factors from two simulated rounds of the plan.

        If pairs are not expected to improve on item means, the only round is about items. If the
        counts of items select a smaller head than the announced one, no round about pairs follows.
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
