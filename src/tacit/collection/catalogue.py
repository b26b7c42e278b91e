"""The plan "catalogue": every slot of the public catalogue is reported, rated or not."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.channels.table import Channel
from tacit.collection.plan import checked
from tacit.collection.slot_promise import slot_guarantee, tight_guarantee, user_guarantee
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee

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
