"""What a plan is: which slots are answered for, through which channels, and what that promises."""

from collections.abc import Sequence
from typing import Protocol, cast

from tacit.channels.certificate import certify
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.given import must_be, whole
from tacit.privacy.guarantee import Guarantee

ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "each rating is answered for once; asking again costs epsilon again",
)


class Plan(Protocol):
    """Which slots leave a device, and how. Epsilons are decimal strings, in nats."""

    @property
    def name(self) -> str:
        """The plan's name on the command line."""
        ...

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The certified tables behind the reports."""
        ...

    @property
    def cap(self) -> int | None:
        """The public bound on the ratings of one person; None for no bound."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises."""
        ...

    @property
    def values_epsilon(self) -> str | None:
        """Epsilon of all values of one person together; None without a cap."""
        ...

    def asked_slots(self, n_items: int) -> int | None:
        """How many slots of a catalogue each person answers for; None where only rated ones are."""
        ...

    @property
    def sends_missing(self) -> bool:
        """Whether a slot that comes out as "missing" is reported; without, nothing of it leaves."""
        ...

    def user_guarantee(self, n_items: int) -> Guarantee | None:
        """What a whole profile over a catalogue of `n_items` is promised; None for nothing."""
        ...

    def tight_guarantee(self, n_items: int, delta: str) -> Guarantee | None:
        """The same at a delta above 0, by the tables' privacy loss; None where there is none."""
        ...


MADE = "pass what `compile_channel` returns"


def checked(channels: Channel | Sequence[Channel], cap: int | None) -> tuple[Channel, ...]:
    """The channels of a plan, each certified here.

    Raises `CertificateError` for a table that does not hold, and `RequestError` for no channel, for
    channels over several scales and for a cap below 1.
    """
    several = tuple(must_be(Channel, one, "a channel", MADE) for one in _each(channels))
    if not 0 < len(several) <= 256:
        raise RequestError(f"A plan must have 1 to 256 channels, got {len(several)}.")
    if len({channel.levels for channel in several}) != 1:
        raise RequestError("All channels of a plan must have the same rating scale.")
    if cap is not None and whole("cap", cap) < 1:
        raise RequestError(f"cap must be an integer of at least 1, got {cap}.")
    for channel in several:
        certify(channel)
    return several


def _each(given: object) -> Sequence[object]:
    """One or several; text is one."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return (given,)
    return cast("Sequence[object]", given)
