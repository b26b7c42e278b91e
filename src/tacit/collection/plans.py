"""Plans of collection: `rated`, `catalogue` and `sample:K`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property, lru_cache

from tacit.channels.losses import changed_slot_loss, profile_loss, slot_losses
from tacit.channels.table import Channel
from tacit.collection.composition import tight_epsilon
from tacit.collection.plan import ASSUMPTIONS, checked
from tacit.errors import RequestError, integer
from tacit.privacy.guarantee import Guarantee
from tacit.scale import shortest

# The plan "rated": every rating is reported; presence is public.


@dataclass(frozen=True, init=False)
class Rated:
    """One symbol per rating, drawn through one of `channels`; at most `cap` per user.

    The guarantee is for the *value* of one rating: which items a user rated, and when, is not
    protected. With `cap` a public hash of user and item selects that many ratings of each user,
    whatever their values, and all values of a user together cost `values_epsilon`. With several
    channels each report names one, and the guarantee is that of the weakest.

    Every table is certified here. Raises `CertificateError` for one whose certificate fails and
    `RequestError` for a plan without a channel, over several scales or with a cap below 1, and for
    a channel that spends epsilon on presence, which this plan reveals.
    """

    channels: tuple[Channel, ...]
    cap: int | None = None
    name = "rated"

    def __init__(self, channels: Channel | Sequence[Channel], cap: int | None = None) -> None:
        object.__setattr__(self, "channels", checked(channels, cap))
        object.__setattr__(self, "cap", cap)
        if any(len(channel.levels) == 1 for channel in self.channels):
            raise RequestError(
                "For implicit feedback, the plan rated would protect nothing; use the plan "
                "catalogue or sample:K, and a channel with missing."
            )
        if any(channel.missing for channel in self.channels):
            raise RequestError(
                "This channel spends epsilon on protecting presence, which the plan rated "
                "reveals; use the plan catalogue, or a channel without missing."
            )

    @cached_property
    def epsilon(self) -> str:
        """Largest epsilon among the channels: nats per rating value, a decimal string."""
        return max((channel.epsilon for channel in self.channels), key=Decimal)

    @property
    def values_epsilon(self) -> str | None:
        """Epsilon of all values of one user together: epsilon x cap; None without a cap."""
        return None if self.cap is None else shortest(Decimal(self.epsilon) * self.cap)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report: checked in integers on each table."""
        return Guarantee(
            epsilon=self.epsilon,
            unit="value",
            trust="nobody",
            released="one symbol per rating",
            public=("which items each user rated", "the channels"),
            assumptions=ASSUMPTIONS,
            exact=True,
        )

    def reported_slots(self, n_items: int) -> None:
        """Return None: unrated slots are not reported."""

    @property
    def sends_missing(self) -> bool:
        """False: unrated slots are not reported."""
        return False

    def user_guarantee(self, n_items: int) -> None:
        """Return None: presence is public, so the loss of a user is unbounded."""

    def tight_guarantee(self, n_items: int, delta: str) -> None:
        """Return None, as `user_guarantee`."""


# The plan "catalogue": every slot of the public catalogue is reported, rated or not.


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
        (_tight_epsilon(channel.likelihood, slots, cap, float(delta)), channel)
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


@lru_cache(maxsize=256)
def _tight_epsilon(
    table: tuple[tuple[float, ...], ...], slots: int, cap: int, delta: float
) -> float | None:
    """Return `tight_epsilon` of a table. Cached: the terms of a plan are needed many times."""
    return tight_epsilon(table, slots=slots, cap=cap, delta=delta)


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


CATALOGUE_RELEASES = "one symbol per slot of the catalogue"


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
        return slot_guarantee(self.channels, CATALOGUE_RELEASES, capped=self.cap is not None)

    @property
    def values_epsilon(self) -> None:
        """None: values are not separate from presence; see `user_guarantee`."""

    def reported_slots(self, n_items: int) -> int:
        """Return the number of items."""
        return n_items

    @property
    def sends_missing(self) -> bool:
        """False: slots without a report were "missing"."""
        return False

    def user_guarantee(self, n_items: int) -> Guarantee:
        """Return the exact guarantee of a complete profile over `n_items` at delta = 0.

        With a cap s: min(n, 2 s) epsilon for randomized response, 1.5 s epsilon for modified
        Laplace if 2 s <= n (`tacit.channels.losses.profile_loss`).
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


# The plan "sample:K": each user reports a public pseudo-random sample of K slots.

SAMPLE_RELEASES = "one symbol per sampled slot"


@dataclass(frozen=True, init=False)
class Sample:
    """One symbol for each of the `slots` items with the smallest public hashes with the user.

    The sampled slots of a user are public and independent of their ratings. The guarantee is per
    *slot*, as under `tacit.collection.plans.Catalogue`; that of a user is stronger, because
    fewer slots are reported. `cap` applies to a user's ratings among the sampled slots. Raises as
    `Catalogue` does, and `RequestError` for fewer than one slot.
    """

    channels: tuple[Channel, ...]
    slots: int
    cap: int | None = None

    def __init__(
        self, channels: Channel | Sequence[Channel], slots: int, cap: int | None = None
    ) -> None:
        object.__setattr__(self, "channels", slot_channels(channels, cap))
        object.__setattr__(self, "slots", slots)
        object.__setattr__(self, "cap", cap)
        if integer("slots", slots) < 1:
            raise RequestError(f"slots must be an integer of at least 1, got {slots}.")

    @property
    def name(self) -> str:
        """Name of the plan on the command line."""
        return f"sample:{self.slots}"

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one slot: checked in integers on each table."""
        capped = self.cap is not None and self.cap < self.slots
        return slot_guarantee(self.channels, SAMPLE_RELEASES, capped=capped)

    @property
    def values_epsilon(self) -> None:
        """None: values are not separate from presence; see `user_guarantee`."""

    def reported_slots(self, n_items: int) -> int:
        """Return K, or the number of items of a smaller catalogue."""
        return min(self.slots, n_items)

    @property
    def sends_missing(self) -> bool:
        """True: the sampled slots are public, and all are reported."""
        return True

    def user_guarantee(self, n_items: int) -> Guarantee:
        """Return the exact guarantee of a complete profile at delta = 0; see `Catalogue`."""
        return user_guarantee(self.guarantee, self.channels, *self._bounds(n_items))

    def tight_guarantee(self, n_items: int, delta: str) -> Guarantee | None:
        """Return the same at `delta` above 0; None without the extra `curator`."""
        return tight_guarantee(self.guarantee, self.channels, *self._bounds(n_items), delta)

    def _bounds(self, n_items: int) -> tuple[int, int]:
        slots = min(self.slots, n_items)
        return slots, min(self.cap or slots, slots)
