"""Simulated devices that send signed messages about star ratings.

A message about an item has the sign +1 with the probability (1 + r) / 2 for a rating r on the scale
from -1 to 1, so the mean of its sign is r. A message about a pair has the sign of the product of
the user's two residuals: the rating minus the item's mean and the user's level. Own buckets of a
device are distinct, as the accounting requires: an item or a pair has one sign in a round.

Buckets of n items: item i with the sign -1 is i, and with +1 is n + i. Buckets of pairs of n items:
the pair l < h with the sign -1 is h (h - 1) / 2 + l, and with +1 n (n - 1) / 2 more. The remaining
ones, at the end, are unused.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.person.item_means import own_levels
from tacit.training.shuffled.signed_estimates import ShrunkMeans
from tacit.training.shuffled.simulation import SimulatedDevices, with_uniform

Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SignedDevices:
    """Devices of users with these ratings. `copies`: devices per user, each with its own draws."""

    ratings: CanonicalRatings
    copies: int = 1

    @classmethod
    def of(cls, ratings: Ratings, copies: int = 1) -> Self:
        """Return the devices of these ratings.

        Raises `RequestError` if a (user, item) pair occurs twice.
        """
        return cls(CanonicalRatings.of(ratings), copies)

    @property
    def people(self) -> int:
        """Number of devices."""
        return self.ratings.people * self.copies

    @property
    def items(self) -> int:
        """Size of the catalogue."""
        return len(self.ratings.items.start) - 1

    def item_counts(self, shuffled: ShuffledRound) -> Longs:
        """Return the messages per bucket in a batch about items, shape (buckets,)."""
        positive = (1 + self.ratings.values / self.ratings.half) / 2
        # Seeded by the operating system. A simulation: real devices draw signs without floats.
        generator = np.random.default_rng()
        sent = np.zeros(shuffled.buckets, np.int64)
        for _ in range(self.copies):
            signs = generator.random(len(positive)) < positive
            one = _signed(self.ratings, signs, self.items)
            sent += one.message_counts(shuffled.messages, shuffled.buckets, pairs=False)
        return with_uniform(sent, shuffled, self.people)

    def pair_counts(
        self, shuffled: ShuffledRound, head: NDArray[np.bool_], means: ShrunkMeans
    ) -> Longs:
        """Return the messages per bucket in a batch about pairs of `head`, shape (buckets,)."""
        size = int(head.sum())
        levels = own_levels(self.ratings, means.mu, means.biases)
        few = self.ratings.where(head, np.cumsum(head) - 1, size)
        labels = few.values - means.mu - means.biases[head][few.item] - levels[few.person]
        devices = _signed(few, labels > 0, size, self.copies)
        both = devices.message_counts(shuffled.messages, size * (2 * size + 1), pairs=True)
        sent = np.zeros(shuffled.buckets, np.int64)
        pairs = size * (size - 1) // 2
        sent[:pairs], sent[pairs : 2 * pairs] = _by_product(both, size)
        return with_uniform(sent, shuffled, self.people)


def _signed(
    ratings: CanonicalRatings, signs: NDArray[np.bool_], items: int, copies: int = 1
) -> SimulatedDevices:
    """Return devices whose item i is i with the sign -1, and `items` + i with +1."""
    codes = ratings.item + items * signs.astype(np.int32)
    return SimulatedDevices(ratings.users._replace(other=codes), 2 * items, copies)


def _by_product(both: Longs, size: int) -> tuple[Longs, Longs]:
    """Return the counts of pairs l < h by the product of the signs, -1 and +1.

    `both`: counts of pairs of items with a sign each, as an unsigned round numbers them.
    """
    square = np.zeros((2 * size, 2 * size), np.int64)
    square[np.tril_indices(2 * size)] = both
    square += square.T
    below = np.tril_indices(size, -1)
    opposite = square[:size, size:] + square[size:, :size]
    equal = square[:size, :size] + square[size:, size:]
    return opposite[below], equal[below]
