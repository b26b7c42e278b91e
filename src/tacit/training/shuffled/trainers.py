"""Top-N trainers from shuffled messages: shuffled-popularity and shuffled-ease.

Devices send messages about their users' items, and then about pairs of the most frequent items,
through a shuffler (`tacit.privacy.shuffled_messages`). The provider has counts alone. The trainers
simulate all devices, under the assumptions of `tacit.training.shuffled.settings`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from tacit.collection.shuffled.heads import announced_round, following_round
from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.errors import integer
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.training.mechanism.contributions import require_vocabularies
from tacit.training.person.covariance import most_rated
from tacit.training.person.fitted_model import without_rows
from tacit.training.person.head_weights import head_weights
from tacit.training.shuffled.estimates import item_estimates, pair_estimates, popularity_weights
from tacit.training.shuffled.settings import check_settings, plan_for
from tacit.training.shuffled.simulation import SimulatedDevices

Advance = Callable[[float], None]


class Collected(NamedTuple):
    """Weights, the rounds that they were estimated from, and the certificate of the collection."""

    weights: ItemWeights
    rounds: tuple[ShuffledRound, ...]
    certificate: ShuffledCertificate


@dataclass(frozen=True, kw_only=True)
class ShuffledPopularity:
    """Private popularity without a curator: one round of shuffled messages about items.

    `messages`: M of the plan. A device sends at most as many items as have 3 M pairs. `honest`:
    least fraction of honest bundles. `turnout`: least bundles in a batch over the number of users.

    Raises `RequestError` for settings out of range.
    """

    messages: int = 100
    honest: float = 0.8
    turnout: float = 0.7

    name = "shuffled-popularity"
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
    ) -> FittedLists:
        """Simulate the round at `epsilon` nats per user and `delta`, decimal strings.

        All draws are secret, so `rng` is ignored. Raises `RequestError` for an invalid `epsilon` or
        `delta`, for a delta above .01 over the bundles, and without users or items.
        """
        return _fitted(self, ratings, epsilon, delta)

    def learn(self, devices: SimulatedDevices, plan: ShuffledPlan) -> Collected:
        """Return the weights from one simulated round of the plan."""
        only = plan.only_round()
        counts = item_estimates(devices.counts(only, pairs=False), devices.items)
        return Collected(popularity_weights(counts), (only,), plan.certificate((only,)))


@dataclass(frozen=True, kw_only=True)
class ShuffledEase:
    """EASE (Steck 2019) without a curator: shuffled messages about items, then pairs of items.

    `messages`: pairs that a device sends at most. `most_dummies`: largest number of dummies per
    device about pairs, which bounds the head. `honest`: least fraction of honest bundles.
    `turnout`: least bundles in a batch over the number of users.

    Raises `RequestError` for settings out of range.
    """

    messages: int = 100
    most_dummies: int = 2000
    honest: float = 0.8
    turnout: float = 0.7

    name = "shuffled-ease"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        check_settings(self)
        integer("most_dummies", self.most_dummies, 1)

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Advance = lambda done: None,
    ) -> FittedLists:
        """Simulate both rounds at `epsilon` nats per user and `delta`, decimal strings.

        All draws are secret, so `rng` is ignored. Raises `RequestError` for an invalid `epsilon` or
        `delta`, for a delta above .01 over the bundles, and without users or items.
        """
        return _fitted(self, ratings, epsilon, delta)

    def learn(self, devices: SimulatedDevices, plan: ShuffledPlan) -> Collected:
        """Return the weights from two simulated rounds of the plan.

        If the least head requires more than `most_dummies`, the only round is about items. If no
        pair would exceed its noise, no round about pairs follows.
        """
        announced = announced_round(plan, self.most_dummies)
        if announced is None:
            return ShuffledPopularity(messages=self.messages).learn(devices, plan)
        items = plan.item_round()
        certificate = plan.certificate((items, announced))
        counts = item_estimates(devices.counts(items, pairs=False), devices.items)
        follows = following_round(
            counts,
            announced,
            bundles=devices.people,
            devices=certificate.devices,
            most_dummies=self.most_dummies,
            signed=False,
        )
        if follows is None:
            return Collected(popularity_weights(counts), (items,), certificate)
        size, pairs = follows
        head = most_rated(counts, size)
        noisy = pair_estimates(devices.within(head).counts(pairs, pairs=True), size)
        return Collected(head_weights(counts, head, noisy), (items, pairs), certificate)


def _fitted(
    trainer: ShuffledPopularity | ShuffledEase, ratings: Ratings, epsilon: str, delta: str
) -> FittedLists:
    require_vocabularies(ratings)
    devices = SimulatedDevices.of(ratings)
    plan = plan_for(trainer, devices.people, devices.items, epsilon, delta)
    collected = trainer.learn(devices, plan)
    guarantee = collected.certificate.guarantee
    return without_rows(trainer.name, ratings, collected.weights, guarantee)
