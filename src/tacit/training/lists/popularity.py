"""Private popularity: the most frequent items, from one noisy count per item."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.ratings import Ratings
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings, require_vocabularies
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.fitted_model import published
from tacit.training.person.noisy_counts import even_weights, noisy_counts


@dataclass(frozen=True)
class DPPopularity:
    """The baseline of every top-N trainer at the same budget."""

    name = "dp-popularity"
    where = ("device",)
    unit = "user"

    def fit(
        self,
        ratings: Ratings,
        *,
        epsilon: str,
        delta: str = "1e-6",
        rng: int = 0,
        advance: Callable[[float], None] = lambda done: None,
        releases: NoisyReleases | None = None,
    ) -> FittedLists:
        """Release counts at `epsilon` nats per user and `delta`, decimal strings.

        The only randomness is the noise, so `rng` is ignored. `releases` is replaced in tests only.
        Data without ratings are accepted: an error would reveal that no user rated. Raises
        `RequestError` for an invalid `epsilon` or `delta`, and without users or items.
        """
        account = Account(epsilon, delta, SecretReleases() if releases is None else releases)
        require_vocabularies(ratings)
        canonical = CanonicalRatings.of(ratings)
        account.allot({"counts": 1.0})
        counts = noisy_counts("counts", canonical, even_weights(canonical), account)
        weights = ItemWeights(popularity=counts.values.astype(np.float32))
        return published(self.name, ratings, weights, account)
