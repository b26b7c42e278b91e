"""What plans that answer for slots promise: for one slot, for a person, and at a delta."""

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
    """What one slot is promised: the weakest channel's epsilon, checked in integers.

    Where a cap may bind (`capped`) one more rating can push another one out, so that two slots
    answer otherwise: the slot then costs what one hidden and one made-up rating cost together.
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
    """What a person with at most `cap` ratings on `slots` slots is promised, at delta = 0."""
    most = max(_profile_loss(channel, slots, cap) for channel in channels)
    return replace(one, epsilon=shortest(most), unit="user")


def tight_guarantee(
    one: Guarantee, channels: Sequence[Channel], slots: int, cap: int, delta: str
) -> Guarantee | None:
    """The same at `delta` above 0 by the tables' privacy loss; None without `dp-accounting`.

    Never more than at delta = 0, and not checked in integers.
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
    found = slot_losses(channel)
    return changed_slot_loss(between=found.between, rated=found.rated, unrated=found.unrated)


def _profile_loss(channel: Channel, slots: int, cap: int) -> Decimal:
    found = slot_losses(channel)
    return profile_loss(
        between=found.between, rated=found.rated, unrated=found.unrated, slots=slots, cap=cap
    )
