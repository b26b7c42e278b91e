"""Simulated devices that send signed messages about star ratings.

Signs have the law of `tacit.device.shuffled.signs`. A message about an item has the sign + with the
probability (1 + r) / 2 for a rating r on the scale from -1 to 1, so the mean of its sign is r. A
message about a pair has the sign of the product of its two residuals: the rating minus the item's
mean, in thousandths, and the user's level on the other items of the head. Own buckets of a device
are distinct, as the accounting requires: an item or a pair has one sign in a round. Buckets are
those of `tacit.wire.shuffled.round_terms`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.device.shuffled.signs import PRIOR
from tacit.kernels.draw import count_signed_pairs
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.shuffled.signed_estimates import ShrunkMeans, mean_thousandths
from tacit.training.shuffled.simulation import SimulatedDevices, with_uniform
from tacit.wire.shuffled.round_terms import THOUSANDTHS

Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SignedDevices:
    """Devices of users with these ratings. `copies`: devices per user, each with its own draws."""

    ratings: CanonicalRatings
    scale: RatingScale
    copies: int = 1

    @classmethod
    def of(cls, ratings: Ratings, copies: int = 1) -> Self:
        """Return the devices of these ratings.

        Raises `RequestError` if a (user, item) pair occurs twice.
        """
        return cls(CanonicalRatings.of(ratings), ratings.scale, copies)

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
            one = _signed(self.ratings, signs.astype(np.int32), self.items)
            sent += one.message_counts(shuffled.messages, shuffled.buckets, pairs=False)
        return with_uniform(sent, shuffled, self.people)

    def pair_counts(
        self, shuffled: ShuffledRound, head: NDArray[np.bool_], means: ShrunkMeans
    ) -> Longs:
        """Return the messages per bucket in a batch about pairs of `head`, shape (buckets,)."""
        return with_uniform(self.pair_message_counts(shuffled, head, means), shuffled, self.people)

    def pair_message_counts(
        self, shuffled: ShuffledRound, head: NDArray[np.bool_], means: ShrunkMeans
    ) -> Longs:
        """Return the own messages per bucket about pairs of `head`, shape (buckets,)."""
        size = int(head.sum())
        few = self.ratings.where(head, np.cumsum(head) - 1, size)
        deviations = _deviations(few, self.scale, mean_thousandths(means, self.scale)[head])
        sent, pairs = np.zeros(shuffled.buckets, np.int64), size * (size - 1)
        devices, most = SimulatedDevices(few.users, size, self.copies), shuffled.messages
        for block, words in devices.draws(most, pairs=True):
            mine = deviations[block.cell]
            count_signed_pairs(block, mine, PRIOR, most, words, sent[:pairs])
        return sent


def _deviations(few: CanonicalRatings, scale: RatingScale, means: Longs) -> Doubles:
    """Return the integers of `tacit.device.shuffled.signs.deviations`, one per rating.

    `few`: ratings of the head. `means`: of its items, in thousandths. Integers below 2^53, as on
    every common scale, are exact in floating point.
    """
    low, step = (Fraction(each) * THOUSANDTHS for each in (scale.low, scale.step))
    unit = lcm(low.denominator, step.denominator)
    levels = np.rint((few.values + few.half) / float(scale.step))
    return float(low * unit) + levels * float(step * unit) - means[few.item] * float(unit)


def _signed(ratings: CanonicalRatings, signs: Ints, items: int) -> SimulatedDevices:
    """Return devices whose item i is i with the sign -, and `items` + i with the sign +."""
    codes = ratings.item + items * signs
    return SimulatedDevices(ratings.users._replace(other=codes), 2 * items)
