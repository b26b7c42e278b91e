"""Plans by their names on the command line: `rated`, `catalogue` and `sample:K`."""

from collections.abc import Sequence

from tacit.channels.table import Channel
from tacit.collection.catalogue import Catalogue
from tacit.collection.plan import Plan
from tacit.collection.rated import Rated
from tacit.collection.sample import Sample
from tacit.errors import RequestError

PLANS = ("rated", "catalogue", "sample:K")


def protects_presence(name: str) -> bool:
    """Return whether the named plan protects presence. Raises `RequestError` for other names."""
    kind, colon, slots = name.partition(":")
    if kind == "sample" and colon and slots.isdecimal() and int(slots) > 0:
        return True
    if name in ("rated", "catalogue"):
        return name == "catalogue"
    raise RequestError(
        "plan must be rated, catalogue or sample:K with K slots per user, as in sample:200, got "
        f"'{name}'."
    )


def plan(name: str, channels: Channel | Sequence[Channel], cap: int | None = None) -> Plan:
    """Return the named plan over certified channels. Raises as the plans do."""
    if not protects_presence(name):
        return Rated(channels, cap)
    if name == "catalogue":
        return Catalogue(channels, cap)
    return Sample(channels, int(name.partition(":")[2]), cap)
