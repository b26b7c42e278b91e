"""Guarantees of plans over slots: per slot, per user, and at a delta."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal

from tacit.channels.losses import slot_losses
from tacit.channels.table import Channel
from tacit.collection.composition import tight_epsilon
from tacit.collection.plan import ASSUMPTIONS
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.profiles import changed_slot_loss, profile_loss
from tacit.scale import shortest


def slot_guarantee(channels: Sequence[Channel], released: str, *, capped: bool) -> Guarantee:
    """Return the guarantee of one slot: the weakest channel's epsilon, checked in integers.

    Where a cap may bind (`capped`) one more rating can displace another one, so that two slots
    change: the slot then costs as much as one hidden and one added rating together.
    """
    return Guarantee(
        epsilon=shortest(max(_slot_loss(channel, capped) for channel in channels)),
        unit="slot",
        trust="nobody",
        released=released,
        public=("who takes part", "the catalogue", "the channels"),
        assumptions=ASSUMPTIONS,
        exact=True,
    )


def user_guarantee(one: Guarantee, channels: Sequence[Channel], slots: int, cap: int) -> Guarantee:
    """Return the guarantee of a user with at most `cap` ratings on `slots` slots, at delta = 0."""
    most = max(_profile_loss(channel, slots, cap) for channel in channels)
    return replace(one, epsilon=shortest(most), unit="user")


def tight_guarantee(
    one: Guarantee, channels: Sequence[Channel], slots: int, cap: int, delta: str
) -> Guarantee | None:
    """Return the same at `delta` above 0 by the tables' privacy loss; None without `dp-accounting`.

    It is at most that at delta = 0, and not checked in integers.
    """
    figures = [
        (tight_epsilon(channel.likelihood, slots=slots, cap=cap, delta=float(delta)), channel)
        for channel in channels
    ]
    most = Decimal(0)
    for figure, channel in figures:
        if figure is None:
            return None
        proved = _profile_loss(channel, slots, cap)
        most = max(most, proved if figure > proved else Decimal(figure))
    epsilon = shortest(most.quantize(Decimal("0.0001"), ROUND_CEILING))
    return replace(one, epsilon=epsilon, delta=delta, unit="user", exact=False)


def _slot_loss(channel: Channel, capped: bool) -> Decimal:
    if not capped:
        return Decimal(channel.epsilon)
    losses = slot_losses(channel)
    return changed_slot_loss(between=losses.between, rated=losses.rated, unrated=losses.unrated)


def _profile_loss(channel: Channel, slots: int, cap: int) -> Decimal:
    losses = slot_losses(channel)
    return profile_loss(
        between=losses.between, rated=losses.rated, unrated=losses.unrated, slots=slots, cap=cap
    )
