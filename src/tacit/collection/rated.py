"""The plan "rated": every rating is answered for; who rated what is public."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from tacit.channels.certificate import certify
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.scale import shortest

ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "each rating is answered for once; asking again costs epsilon again",
)


@dataclass(frozen=True, init=False)
class Rated:
    """One symbol for each rating, drawn through one of `channels`; at most `cap` a person.

    The promise is for the *value* of one rating: which items a person rated, and when, is sent as
    it is. With `cap` a public hash of person and item keeps that many ratings of each person,
    whatever their values, and all values of a person together cost `values_epsilon`. With several
    channels each report names its own, and the guarantee speaks of the weakest.

    Every table is certified here. Raises `CertificateError` for one that does not hold and
    `RequestError` for a plan without a channel, over several scales or with a cap below 1.
    """

    channels: tuple[Channel, ...]
    cap: int | None = None
    name = "rated"

    def __init__(self, channels: Channel | Sequence[Channel], cap: int | None = None) -> None:
        several = (channels,) if isinstance(channels, Channel) else tuple(channels)
        object.__setattr__(self, "channels", several)
        object.__setattr__(self, "cap", cap)
        if not 0 < len(several) <= 256:
            raise RequestError(f"A plan of {len(several)} channels is not among 1 to 256.")
        if len({channel.levels for channel in several}) != 1:
            raise RequestError("The channels of one plan must have one rating scale.")
        if cap is not None and cap < 1:
            raise RequestError(f"A cap of {cap} ratings a person keeps nothing; give 1 or more.")
        for channel in several:
            certify(channel)

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
