"""The plan "rated": every rating is answered for; who rated what is public."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from tacit.channels.table import Channel
from tacit.collection.plan import ASSUMPTIONS, checked
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import THERE, shortest


@dataclass(frozen=True, init=False)
class Rated:
    """One symbol for each rating, drawn through one of `channels`; at most `cap` a person.

    The promise is for the *value* of one rating: which items a person rated, and when, is sent as
    it is. With `cap` a public hash of person and item keeps that many ratings of each person,
    whatever their values, and all values of a person together cost `values_epsilon`. With several
    channels each report names its own, and the guarantee speaks of the weakest.

    Every table is certified here. Raises `CertificateError` for one that does not hold and
    `RequestError` for a plan without a channel, over several scales or with a cap below 1, and for
    a channel that spends epsilon on presence, which this plan shows.
    """

    channels: tuple[Channel, ...]
    cap: int | None = None
    name = "rated"

    def __init__(self, channels: Channel | Sequence[Channel], cap: int | None = None) -> None:
        object.__setattr__(self, "channels", checked(channels, cap))
        object.__setattr__(self, "cap", cap)
        if any(len(channel.levels) == 1 for channel in self.channels):
            raise RequestError(
                f"On the scale {THERE}, the plan rated reveals everything that could be "
                "protected; use the plan catalogue or sample:K, and a channel with "
                "missing."
            )
        if any(channel.missing for channel in self.channels):
            raise RequestError(
                "This channel spends epsilon on protecting presence, which the plan rated "
                "reveals; use the plan catalogue, or a channel without missing."
            )

    @cached_property
    def epsilon(self) -> str:
        """The largest epsilon among the channels: nats per rating value, a decimal string."""
        return max((channel.epsilon for channel in self.channels), key=Decimal)

    @property
    def values_epsilon(self) -> str | None:
        """Epsilon of all values of one person together: epsilon x cap; None without a cap."""
        return None if self.cap is None else shortest(Decimal(self.epsilon) * self.cap)

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises: checked in integers on each table."""
        return Guarantee(
            epsilon=self.epsilon,
            unit="value",
            trust="nobody",
            released="one symbol per rating",
            public=("who rated what", "the channels"),
            assumptions=ASSUMPTIONS,
            exact=True,
        )

    def asked_slots(self, n_items: int) -> None:
        """None: nobody answers for a slot that they did not rate."""

    @property
    def sends_missing(self) -> bool:
        """False: nothing is said of what was not rated."""
        return False

    def user_guarantee(self, n_items: int) -> None:
        """None: who rated what is public, so nothing bounds a whole person."""

    def tight_guarantee(self, n_items: int, delta: str) -> None:
        """None, as for `user_guarantee`."""
