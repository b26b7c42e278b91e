"""Plans by their names on the command line: `rated`, `catalogue` and `sample:K`."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit import registry
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


@dataclass(frozen=True, kw_only=True)
class Preset:
    """`plan`: by name. `epsilon`: nats per slot, a decimal string. `why`: a sentence."""

    plan: str
    epsilon: str
    why: str


PRESETS = {
    "hard-to-link": Preset(
        plan="sample:200",
        epsilon="2",
        why="Of MovieLens 1M's 6,040 people, an attacker who has eight of a person's ratings "
        "with their stars finds that person's reports at the first guess in fewer than one case "
        "in a hundred.",
    ),
}
"""Presets by name. Each was chosen by measurements on public ratings: with fewer users or items,
more users are linked."""


def preset(name: str) -> Preset:
    """Return the named preset. Raises `RequestError` for other names."""
    return registry.named(PRESETS, name, "preset")
