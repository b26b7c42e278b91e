"""Presets: a plan and an epsilon by a name that says what they were chosen for."""

from dataclasses import dataclass

from tacit import registry


@dataclass(frozen=True, kw_only=True)
class Preset:
    """`plan` by name; `epsilon`: nats per slot, a decimal string. `why`: a sentence."""

    plan: str
    epsilon: str
    why: str


PRESETS = {
    "hard-to-link": Preset(
        plan="sample:200",
        epsilon="2",
        why="Of MovieLens 1M's 6,040 people, an attacker who knows eight of a person's ratings "
        "with their stars finds that person's reports at the first guess in fewer than one case "
        "in a hundred.",
    ),
}
"""By name. What each was chosen for was measured on public ratings: where fewer people answer, or
about fewer items, more of them are linked."""


def preset(name: str) -> Preset:
    """The preset of that name; raises `RequestError` where there is none."""
    return registry.named(PRESETS, name, "preset")
