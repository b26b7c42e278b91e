"""Private EASE (Steck 2019): item weights from one noisy co-occurrence matrix.

Each person's items, of those that are counted most, make a vector x of norm 1. Products of
different items, summed over people, are released once, after the counts that chose the items:

    G_ab = sum over people of x_a x_b + noise, a < b,

with the sensitivity 1, by the proof in `tacit.training.person.covariance`. The diagonal is no part
of it: sum x_a^2 is what the counts say, scaled so that all of it is one a person, and m / n, of m
people and n items, in the mean. Directions of G beyond the noise's edge e = 2 z sqrt(n) are kept,
as `tacit.models.lists.co_occurrence` does. Of the diagonal at most e / 4 stands in G, or noise
would be lifted above the edge with it; the rest goes to the ridge, which is e beside that.

With more items more of the catalogue is known, and less of each direction: m / n falls, and e
grows. As many items are taken as keep m / n at e / 4. These constants, and the tenth of the budget
for counts, were chosen on made-up people (`benchmarks/dp_ease.py`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.errors import RequestError
from tacit.models.lists.co_occurrence import CoOccurrence
from tacit.models.lists.ease import ease_weights
from tacit.models.lists.fitted import FittedLists
from tacit.models.lists.item_weights import ItemWeights
from tacit.ratings import Ratings
from tacit.training.lists.published import published
from tacit.training.mechanism import contributions
from tacit.training.mechanism.accounting import Account
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.mechanism.inputs import require_vocabularies
from tacit.training.mechanism.noisy_releases import NoisyReleases, SecretReleases
from tacit.training.person.covariance import covariance_grid, most_rated, products
from tacit.training.person.noisy_counts import NoisyCounts, even_weights, noisy_counts

Doubles = NDArray[np.float64]
FEWEST = 120
"""Items between which weights are worth their budget: for fewer all of it goes to counts."""
OUTSIDE = 1e-3
"""The largest score of an item without weights: below any that people's own items speak for."""


@dataclass(frozen=True, kw_only=True)
class DPEase:
    """`most_items`: that have weights, the most counted; the table has its square. `counts`: their
    share of the budget. `clear` and `ridge`: of the edge of the noise, what the mean direction has
    at least, and what is added to all directions.

    Raises `RequestError` for settings that tell nothing.
    """

    most_items: int = 2000
    counts: float = 0.1
    clear: float = 0.25
    ridge: float = 1.0

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
        """Release weights at `epsilon` nats per person and `delta`, decimal strings.

        Nothing is drawn but noise, so `rng` has no part. `releases` is replaced in tests only.
        Data without
        ratings are accepted: an error would reveal that nobody rated. Raises `RequestError` for
        an invalid `epsilon` or `delta`, and without users or items.
        """
        account = Account(epsilon, delta, SecretReleases() if releases is None else releases)
        require_vocabularies(ratings)
        canonical = CanonicalRatings.of(ratings)
        account.allot({"counts": self.counts})
        counts = noisy_counts("counts", canonical, even_weights(canonical), account)
        advance(0.2)
        size = self._size(canonical.people, ratings.n_items, account.alone)
        learn = self._counts_alone if size < FEWEST else self._beside_counts
        weights = learn(canonical, counts, size, account)
        advance(1.0)
        return published(self.name, ratings, weights, account)

    def _size(self, people: int, items: int, alone: float) -> int:
        """How many items get weights, from public figures: n (2 clear z sqrt(n)) = m."""
        noise = alone / math.sqrt(1 - self.counts)
        wanted = (people / (2 * self.clear * noise)) ** (2 / 3)
        return int(min(wanted, items, self.most_items))

    def _counts_alone(
        self, canonical: CanonicalRatings, counts: NoisyCounts, size: int, account: Account
    ) -> ItemWeights:
        account.allot({"more counts": 1 - self.counts})
        more = noisy_counts("more counts", canonical, even_weights(canonical), account)
        return ItemWeights(popularity=counts.with_another(more).values.astype(np.float32))

    def _beside_counts(
        self, canonical: CanonicalRatings, counts: NoisyCounts, size: int, account: Account
    ) -> ItemWeights:
        account.allot({"pairs": 1 - self.counts})
        head = most_rated(counts.values, size)
        few = canonical.where(head, np.cumsum(head) - 1, size)
        pairs, edge = _pairs(few, size, account)
        mean = few.people / size
        kept = min(mean, self.clear * edge)
        squares = np.maximum(counts.values[head], 0)
        pairs[np.diag_indices(size)] = squares * (kept * size / max(float(squares.sum()), 1.0))
        weights = ease_weights(CoOccurrence(pairs, edge), self.ridge * edge + mean - kept)
        outside = np.maximum(counts.values, 0)
        outside *= OUTSIDE / max(float(outside.max()), 1.0)
        between = _placed(weights, head) if weights.any() else None
        return ItemWeights(popularity=outside.astype(np.float32), between=between)


def _pairs(few: CanonicalRatings, size: int, account: Account) -> tuple[Doubles, float]:
    """Spend `pairs`: what goes together among the `size` items of `few`, shape (size, size), 0 on
    the diagonal; and the edge of its noise."""
    grid = covariance_grid(account.multiplier("pairs"))
    steps = contributions.whole(even_weights(few), few.person, few.people, grid)
    above = np.triu_indices(size, 1)
    noisy = account.gaussian("pairs", products(few, steps, size)[above], sensitivity=grid**2)
    pairs = np.zeros((size, size))
    pairs[above] = noisy / grid**2
    # People differ by chance, too: their products, of norm 1 each, spread over all entries.
    drawn = math.hypot(account.multiplier("pairs"), math.sqrt(few.people) / size)
    return pairs + pairs.T, 2 * drawn * math.sqrt(size)


def _placed(weights: NDArray[np.float32], head: NDArray[np.bool_]) -> csr_array:
    """Weights between the items in `head` as weights between all, shape (items, items)."""
    codes, size = np.flatnonzero(head), len(weights)
    start = np.concatenate([[0], np.cumsum(np.where(head, size, 0))])
    shape = (len(head), len(head))
    return csr_array((weights.ravel(), np.tile(codes, size), start), shape=shape)
