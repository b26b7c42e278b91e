"""The plan "sample:K": each user reports a public pseudo-random sample of K slots."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.channels.table import Channel
from tacit.collection.catalogue import (
    slot_channels,
    slot_guarantee,
    tight_guarantee,
    user_guarantee,
)
from tacit.errors import RequestError
from tacit.given import whole
from tacit.privacy.guarantee import Guarantee

RELEASED = "one symbol per asked slot"


@dataclass(frozen=True, init=False)
class Sample:
    """One symbol for each of the `slots` items with the smallest public hashes with the user.

    The sampled slots of a user are public and independent of their ratings. The guarantee is per
    *slot*, as under `tacit.collection.catalogue.Catalogue`; that of a user is stronger, because
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
        if whole("slots", slots) < 1:
            raise RequestError(f"slots must be an integer of at least 1, got {slots}.")

    @property
    def name(self) -> str:
        """Name of the plan on the command line."""
        return f"sample:{self.slots}"

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one slot: checked in integers on each table."""
        capped = self.cap is not None and self.cap < self.slots
        return slot_guarantee(self.channels, RELEASED, capped=capped)

    @property
    def values_epsilon(self) -> None:
        """None: values are not separate from presence; see `user_guarantee`."""

    def asked_slots(self, n_items: int) -> int:
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
