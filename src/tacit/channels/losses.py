"""Privacy losses of one slot by kind of change, and of all slots of a profile together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from tacit.channels.certificate import exp_lower
from tacit.channels.table import Channel
from tacit.errors import RequestError

# Privacy losses of one slot by kind of change, the constants of a user's guarantee.

PLACES = Decimal("1e-9")
"""Losses are decimals of nine places, rounded up: a billionth of a nat is negligible."""


@dataclass(frozen=True)
class SlotLosses:
    """Largest log(P(y | x) / P(y | x')) over symbols y, in nats, for three kinds of neighbours.

    `between`: x and x' are levels. `rated`: x is a level and x' is "missing". `unrated`: x is
    "missing" and x' is a level. Each is proved in integers: no ratio exceeds e^loss.
    """

    between: Decimal
    rated: Decimal
    unrated: Decimal

    @property
    def slot(self) -> Decimal:
        """Loss of any one change of one slot: the channel's epsilon, computed from the table."""
        return max(self.between, self.rated, self.unrated)


def slot_losses(channel: Channel) -> SlotLosses:
    """Return the directed losses of a channel whose inputs include "missing".

    Two users who rated different items differ in as many slots from rated to missing as from
    missing to rated: a smaller `unrated` therefore reduces the loss of a user. Raises
    `RequestError` for a channel that does not protect presence.
    """
    if not channel.missing:
        raise RequestError(
            "This channel has no input for unrated slots; compile one with missing=True."
        )
    missing, levels = channel.weights[:1], channel.weights[1:]
    return SlotLosses(_loss(levels, levels), _loss(levels, missing), _loss(missing, levels))


def _loss(rows: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> Decimal:
    most = (max(column) for column in zip(*rows, strict=True))
    least = (min(column) for column in zip(*others, strict=True))
    return proved_loss(max(Fraction(high, low) for high, low in zip(most, least, strict=True)))


def proved_loss(ratio: Fraction) -> Decimal:
    """Return a decimal d of nine places with ratio <= e^d, proved in rationals; 0 below ratio 1."""
    if ratio <= 1:
        return Decimal(0)
    near = math.log(ratio.numerator) - math.log(ratio.denominator)
    loss = Decimal(near).quantize(PLACES, ROUND_CEILING)
    while exp_lower(Fraction(loss)) < ratio:
        loss += PLACES
    return loss.normalize()


# Losses of all slots of one profile together.


def profile_loss(
    *, between: Decimal, rated: Decimal, unrated: Decimal, slots: int, cap: int
) -> Decimal:
    """Return the largest loss between two profiles of at most `cap` ratings, in nats.

    Reports of the `slots` slots are independent, so losses add up. With k slots rated in
    both profiles (and differently), a in the first and b in the second, a, b <= cap and a + b - k
    <= slots,

        loss = k between + (a - k) rated + (b - k) unrated,

    largest over k, a and b. It is attained, so no smaller figure holds. Where presence costs the
    same both ways (randomized response) it is min(slots, 2 cap) epsilon; for Zheng's modified
    Laplace, whose `unrated` is epsilon / 2, it is 1.5 cap epsilon if 2 cap <= slots.
    """
    most = min(cap, slots)
    # Linear in k, except for the kink at which two full profiles fill all slots.
    ends = {0, most, max(0, 2 * most - slots)}
    return max(_apart(both, most, slots, between, rated, unrated) for both in ends)


def changed_slot_loss(*, between: Decimal, rated: Decimal, unrated: Decimal) -> Decimal:
    """Return the largest loss when one slot of a profile changes *before* a cap, in nats.

    A new rating may displace another one under the cap. Then two slots change, one each way.
    """
    return max(between, rated + unrated)


def _apart(
    both: int, most: int, slots: int, between: Decimal, rated: Decimal, unrated: Decimal
) -> Decimal:
    dear, cheap = max(rated, unrated), min(rated, unrated)
    first = most - both
    second = min(first, slots - both - first)
    return both * between + first * dear + second * cheap
