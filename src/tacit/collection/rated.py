"""The plan "rated": every rating is reported; presence is public."""

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
            public=("who rated what", "the channels"),
            assumptions=ASSUMPTIONS,
            exact=True,
        )

    def asked_slots(self, n_items: int) -> None:
        """Return None: unrated slots are not reported."""

    @property
    def sends_missing(self) -> bool:
        """False: unrated slots are not reported."""
        return False

    def user_guarantee(self, n_items: int) -> None:
        """Return None: presence is public, so the loss of a user is unbounded."""

    def tight_guarantee(self, n_items: int, delta: str) -> None:
        """Return None, as `user_guarantee`."""
