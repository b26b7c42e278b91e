"""The plan "catalogue": every slot of the public catalogue is answered for, rated or not."""

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
    """One symbol for each item of the catalogue from each person, in the catalogue's order.

    The promise is for a *slot*: whether a person rated an item, and how. What leaves a device has
    the same length, items and order for everybody; a provider that stores only the symbols other
    than "missing" has lost nothing. `cap`: at most so many ratings of a person are answered for,
    those of the smallest public hashes; the others count as missing. It bounds what a person can
    lose (`user_guarantee`), and makes one slot dearer: a new rating may push another one out.

    One channel a person. Raises `CertificateError` for a table that does not hold and
    `RequestError` for one that has no input "missing", for channels over several scales and for a
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
        """What one slot is promised: checked in integers on each table."""
        return slot_guarantee(self.channels, RELEASED, capped=self.cap is not None)

    @property
    def values_epsilon(self) -> None:
        """None: values are not told apart from presence; see `user_guarantee`."""

    def asked_slots(self, n_items: int) -> int:
        """Every item."""
        return n_items

    @property
    def sends_missing(self) -> bool:
        """False: whatever is not reported came out as "missing"."""
        return False

    def user_guarantee(self, n_items: int) -> Guarantee:
        """What a whole profile over `n_items` is promised at delta = 0, exactly.

        With a cap s: min(n, 2 s) epsilon for randomized response, 1.5 s epsilon for modified
        Laplace if 2 s <= n (`tacit.privacy.profiles.profile_loss`).
        """
        return user_guarantee(self.guarantee, self.channels, n_items, self.cap or n_items)

    def tight_guarantee(self, n_items: int, delta: str) -> Guarantee | None:
        """The same at `delta` above 0; None without the extra `curator`."""
        return tight_guarantee(self.guarantee, self.channels, n_items, self.cap or n_items, delta)


def slot_channels(channels: Channel | Sequence[Channel], cap: int | None) -> tuple[Channel, ...]:
    """The channels of a plan over slots, certified; each has an input "missing".

    Raises `RequestError` for one that has none.
    """
    several = checked(channels, cap)
    if not all(channel.missing for channel in several):
        raise RequestError(
            "This channel has no input for unrated slots; use one with missing "
            "(randomized-response, optimal or modified-laplace) or auto."
        )
    return several
