"""The plan "catalogue": every slot of the public catalogue is reported, rated or not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from tacit.channels.losses import slot_losses
from tacit.channels.table import Channel
from tacit.collection.composition import tight_epsilon
from tacit.collection.plan import ASSUMPTIONS, checked
from tacit.errors import RequestError
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


RELEASED = "one symbol per slot of the catalogue"


@dataclass(frozen=True, init=False)
class Catalogue:
    """One symbol per user and item of the catalogue, in the catalogue's order.

    The guarantee is per *slot*: whether a user rated an item, and how. A device's report has the
    same length, items and order for all users; a provider that stores only symbols other than
    "missing" loses no information. `cap`: at most this many ratings of a user are reported, those
    of the smallest public hashes; the others count as missing. It bounds the privacy loss of a user
    (`user_guarantee`), and increases that of a slot: a new rating may displace another one.

    One channel per user. Raises `CertificateError` for a table whose certificate fails and
    `RequestError` for one without an input "missing", for channels over several scales and for a
    cap below 1.
    """

    channels: tuple[Channel, ...]
    cap: int | None = None
    name = "catalogue"

    def __init__(self, channels: Channel | Sequence[Channel], cap: int | None = None) -> None:
        object.__setattr__(self, "channels", slot_channels(channels, cap))
        object.__setattr__(self, "cap", cap)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one slot: checked in integers on each table."""
        return slot_guarantee(self.channels, RELEASED, capped=self.cap is not None)

    @property
    def values_epsilon(self) -> None:
        """None: values are not separate from presence; see `user_guarantee`."""

    def asked_slots(self, n_items: int) -> int:
        """Return the number of items."""
        return n_items

    @property
    def sends_missing(self) -> bool:
        """False: slots without a report were "missing"."""
        return False

    def user_guarantee(self, n_items: int) -> Guarantee:
        """Return the exact guarantee of a complete profile over `n_items` at delta = 0.

        With a cap s: min(n, 2 s) epsilon for randomized response, 1.5 s epsilon for modified
        Laplace if 2 s <= n (`tacit.privacy.profiles.profile_loss`).
        """
        return user_guarantee(self.guarantee, self.channels, n_items, self.cap or n_items)

    def tight_guarantee(self, n_items: int, delta: str) -> Guarantee | None:
        """Return the same at `delta` above 0; None without the extra `curator`."""
        return tight_guarantee(self.guarantee, self.channels, n_items, self.cap or n_items, delta)


def slot_channels(channels: Channel | Sequence[Channel], cap: int | None) -> tuple[Channel, ...]:
    """Return the certified channels of a plan over slots; each has an input "missing".

    Raises `RequestError` for one without that input.
    """
    several = checked(channels, cap)
    if not all(channel.missing for channel in several):
        raise RequestError(
            "This channel has no input for unrated slots; use one with missing "
            "(randomized-response, optimal or modified-laplace) or auto."
        )
    return several
