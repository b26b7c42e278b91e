"""Simulated devices that send signed messages about star ratings.

Signs have the law of `tacit.device.shuffled.signs`. A message about an item has the sign + with the
probability (1 + r) / 2 for a rating r on the scale from -1 to 1, so the mean of its sign is r. A
message about a pair has the sign of the product of the user's two residuals: the rating minus the
item's mean, in thousandths, and the user's level on the items of the head. Own buckets of a device
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
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.ratings import Ratings
from tacit.scale import RatingScale
from tacit.training.mechanism.contributions import CanonicalRatings
from tacit.training.shuffled.signed_estimates import ShrunkMeans, mean_thousandths
from tacit.training.shuffled.simulation import SimulatedDevices, with_uniform
from tacit.wire.shuffled.round_terms import THOUSANDTHS

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
SIGNS = 3
"""Signs of a residual: negative, positive, and zero."""


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
            one = _signed(self.ratings, signs.astype(np.int32), self.items, 2)
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
        signs = _residual_signs(few, self.scale, mean_thousandths(means, self.scale)[head])
        devices = _signed(few, signs, size, SIGNS, self.copies)
        buckets = SIGNS * size * (SIGNS * size + 1) // 2
        both = devices.message_counts(shuffled.messages, buckets, pairs=True)
        sent, pairs = np.zeros(shuffled.buckets, np.int64), size * (size - 1) // 2
        sent[:pairs], sent[pairs : 2 * pairs] = _by_product(both, size)
        return sent


def _residual_signs(few: CanonicalRatings, scale: RatingScale, means: Longs) -> Ints:
    """Return 0, 1 or 2 for a negative, positive or zero residual of each rating.

    `few`: ratings of the head. `means`: of its items, in thousandths. Integers below 2^53, as on
    every common scale, are exact in floating point.
    """
    low, step = (Fraction(each) * THOUSANDTHS for each in (scale.low, scale.step))
    unit = lcm(low.denominator, step.denominator)
    levels = np.rint((few.values + few.half) / float(scale.step))
    around = float(low * unit) + levels * float(step * unit) - means[few.item] * float(unit)
    count, total = few.users.counts + PRIOR, few.of_person(around)
    residuals = around * count[few.person] - total[few.person]
    return np.select([residuals < 0, residuals > 0], [0, 1], 2).astype(np.int32)


def _signed(
    ratings: CanonicalRatings, signs: Ints, items: int, kinds: int, copies: int = 1
) -> SimulatedDevices:
    """Return devices whose item i with the sign number s, below `kinds`, is i + s `items`."""
    codes = ratings.item + items * signs
    return SimulatedDevices(ratings.users._replace(other=codes), kinds * items, copies)


def _by_product(both: Longs, size: int) -> tuple[Longs, Longs]:
    """Return the counts of pairs l < h by the product of the signs, -1 or 0, and +1.

    `both`: counts of pairs of items with a sign each, as an unsigned round numbers them.
    """
    square = np.zeros((SIGNS * size, SIGNS * size), np.int64)
    square[np.tril_indices(SIGNS * size)] = both
    square += square.T
    parts, below = square.reshape(SIGNS, size, SIGNS, size), np.tril_indices(size, -1)
    equal = (parts[0, :, 0] + parts[1, :, 1])[below]
    return parts.sum((0, 2))[below] - equal, equal
