"""Top-N trainers with a guarantee per user: dp-popularity and dp-ease.

Private EASE (Steck 2019): item weights from one noisy co-occurrence matrix.

Each user's items, restricted to the most frequent ones, form a vector x of norm 1. Products of
different items, summed over users, are released once, after the counts that selected the items:

    G_ab = sum over users of x_a x_b + noise, a < b,

with sensitivity 1, by the proof in `tacit.training.person.covariance`. The diagonal is not
released: sum x_a^2 is estimated from the counts, scaled to a total of one per user, that is m / n
on average for m users and n items. Weights follow from G and its noise edge e = 2 z sqrt(n) as in
`tacit.training.person.head_weights`.

More items cover more of the catalogue, but with less signal per direction: m / n decreases and e
increases. The number of items is the one at which m / n is e / 4. These constants, and the tenth of
the budget for counts, were chosen on synthetic users (`benchmarks/dp_ease.py`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.ratings import Ratings
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings, require_vocabularies
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.covariance import covariance_grid, most_rated, products
from tacit.training.person.fitted_model import published
from tacit.training.person.head_weights import CLEAR, RIDGE, NoisyPairs, head_weights
from tacit.training.person.noisy_counts import NoisyCounts, even_weights, noisy_counts


@dataclass(frozen=True)
class DPPopularity:
    """Private popularity: the most frequent items, from one noisy count per item.

    The baseline of every top-N trainer at the same budget.
    """

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


Doubles = NDArray[np.float64]
FEWEST = 120
"""Fewest items with weights. For fewer, the complete budget is spent on counts."""


@dataclass(frozen=True, kw_only=True)
class DPEase:
    """Private EASE (Steck 2019): item weights from one noisy co-occurrence matrix.

    `most_items`: most items with weights, by noisy count; memory is quadratic in it. `counts`:
    their fraction of the budget. `clear`, `ridge`: in units of the noise edge, the least mean
    direction, and the ridge.

    Raises `RequestError` for settings out of range.
    """

    most_items: int = 2000
    counts: float = 0.1
    clear: float = CLEAR
    ridge: float = RIDGE

    name = "dp-ease"
    where = ("device",)
    unit = "user"

    def __post_init__(self) -> None:
        if self.most_items < 2 or not 0 < self.counts < 1 or not min(self.clear, self.ridge) > 0:
            raise RequestError(
                "most_items must be at least 2, counts a share between 0 and 1, and clear and "
                f"ridge above 0, got most_items {self.most_items}, counts {self.counts:g}, clear "
                f"{self.clear:g} and ridge {self.ridge:g}."
            )

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
        """Release weights at `epsilon` nats per user and `delta`, decimal strings.

        The only randomness is the noise, so `rng` is ignored. `releases` is replaced in tests only.
        Data without ratings are accepted: an error would reveal that no user rated. Raises
        `RequestError` for an invalid `epsilon` or `delta`, and without users or items.
        """
        account = Account(epsilon, delta, SecretReleases() if releases is None else releases)
        require_vocabularies(ratings)
        canonical = CanonicalRatings.of(ratings)
        account.allot({"counts": self.counts})
        counts = noisy_counts("counts", canonical, even_weights(canonical), account)
        advance(0.2)
        noise = account.alone / math.sqrt(1 - self.counts)
        size = self.head_size(canonical.people, ratings.n_items, noise)
        learn = self._counts_alone if size < FEWEST else self._with_pairs
        weights = learn(canonical, counts, size, account)
        advance(1.0)
        return published(self.name, ratings, weights, account)

    def head_size(self, people: int, items: int, noise: float) -> int:
        """Return the number of items with weights, a function of public values.

        It solves n (2 clear noise sqrt(n)) = m. `noise`: multiplier of the pairs.
        """
        wanted = (people / (2 * self.clear * noise)) ** (2 / 3)
        return int(min(wanted, items, self.most_items))

    def _counts_alone(
        self, canonical: CanonicalRatings, counts: NoisyCounts, size: int, account: Account
    ) -> ItemWeights:
        account.allot({"more counts": 1 - self.counts})
        more = noisy_counts("more counts", canonical, even_weights(canonical), account)
        return ItemWeights(popularity=counts.with_another(more).values.astype(np.float32))

    def _with_pairs(
        self, canonical: CanonicalRatings, counts: NoisyCounts, size: int, account: Account
    ) -> ItemWeights:
        account.allot({"pairs": 1 - self.counts})
        head = most_rated(counts.values, size)
        few = canonical.where(head, np.cumsum(head) - 1, size)
        pairs, edge = _pairs(few, size, account)
        squares = np.maximum(counts.values[head], 0)
        squares *= few.people / max(float(squares.sum()), 1.0)
        noisy = NoisyPairs(pairs=pairs, edge=edge, squares=squares)
        return head_weights(counts.values, head, noisy, clear=self.clear, ridge=self.ridge)


def _pairs(few: CanonicalRatings, size: int, account: Account) -> tuple[Doubles, float]:
    """Release `pairs`: the noisy co-occurrence matrix of the items of `few`, and its noise edge.

    Shape (size, size), 0 on the diagonal.
    """
    grid = covariance_grid(account.multiplier("pairs"))
    steps = contributions.rounded(even_weights(few), few.person, few.people, grid)
    above = np.triu_indices(size, 1)
    noisy = account.gaussian("pairs", products(few, steps, size)[above], sensitivity=grid**2)
    pairs = np.zeros((size, size))
    pairs[above] = noisy / grid**2
    # Sampling noise of users: their products, of norm 1 each, spread over all entries.
    drawn = math.hypot(account.multiplier("pairs"), math.sqrt(few.people) / size)
    return pairs + pairs.T, 2 * drawn * math.sqrt(size)
