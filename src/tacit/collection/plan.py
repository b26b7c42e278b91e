"""Protocol of plans: which slots are reported, through which channels, with which guarantee."""

from collections.abc import Sequence
from typing import Protocol, cast

from tacit.channels.certificate import certify
from tacit.channels.table import Channel
from tacit.errors import RequestError, integer, must_be
from tacit.privacy.guarantee import Guarantee

ASSUMPTIONS = (
    "the operating system's random bits are uniform and secret",
    "each rating is reported once; reporting it again costs epsilon again",
)


class Plan(Protocol):
    """Which slots leave a device, and how. Epsilons are decimal strings, in nats."""

    @property
    def name(self) -> str:
        """Name of the plan on the command line."""
        ...

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The certified channels of the reports."""
        ...

    @property
    def cap(self) -> int | None:
        """Public bound on the ratings of one user; None for no bound."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report."""
        ...

    @property
    def values_epsilon(self) -> str | None:
        """Epsilon of all values of one user together; None without a cap."""
        ...

    def reported_slots(self, n_items: int) -> int | None:
        """Return how many slots of a catalogue each user reports; None for rated ones only."""
        ...

    @property
    def sends_missing(self) -> bool:
        """Whether slots with the symbol "missing" are reported, or omitted."""
        ...

    def user_guarantee(self, n_items: int) -> Guarantee | None:
        """Return the guarantee of a complete profile on `n_items` items; None for none."""
        ...

    def tight_guarantee(self, n_items: int, delta: str) -> Guarantee | None:
        """Return the same at a delta above 0, by the tables' privacy loss; None for none."""
        ...


MADE = "pass what `compile_channel` returns"


def checked(channels: Channel | Sequence[Channel], cap: int | None) -> tuple[Channel, ...]:
    """Return the channels of a plan, each certified here.

    Raises `CertificateError` for a table whose certificate fails, and `RequestError` for no
    channel, for channels over several scales and for a cap below 1.
    """
    several = tuple(must_be(Channel, one, "a channel", MADE) for one in _each(channels))
    if not 0 < len(several) <= 256:
        raise RequestError(f"A plan must have 1 to 256 channels, got {len(several)}.")
    if len({channel.levels for channel in several}) != 1:
        raise RequestError("All channels of a plan must have the same rating scale.")
    if cap is not None and integer("cap", cap) < 1:
        raise RequestError(f"cap must be an integer of at least 1, got {cap}.")
    for channel in several:
        certify(channel)
    return several


def _each(channels: object) -> Sequence[object]:
    """Return one or several as a sequence; a string is one."""
    if isinstance(channels, str) or not isinstance(channels, Sequence):
        return (channels,)
    return cast("Sequence[object]", channels)
