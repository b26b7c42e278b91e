"""Presets: a plan and an epsilon, named by their purpose."""

from dataclasses import dataclass

from tacit import registry


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
