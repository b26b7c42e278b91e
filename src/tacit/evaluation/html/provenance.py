"""What was run, for whoever finds a page later: the command, the version, the day and the data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Self

from tacit.evaluation.grid import fingerprint
from tacit.ratings import Ratings


@dataclass(frozen=True)
class Provenance:
    """`command`: as it was typed, or the function called. `day`: ISO, UTC. `data`: in a sentence.
    `auto`: what the channel `auto` stood for, by epsilon in nats per value or
    slot."""

    command: str
    version: str
    day: str
    data: str
    checksum: str
    auto: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        command: str,
        auto: Mapping[str, str] | None = None,
        *,
        protected: bool = False,
    ) -> Self:
        """Of what is run now, on these ratings; those that are `protected` get no checksum, which
        would tell of their values what no price covers."""
        day = datetime.now(UTC).date().isoformat()
        told = data_sentence(ratings)
        checksum = "" if protected else fingerprint(ratings)
        return cls(command, version("tacit-recommender"), day, told, checksum, auto or {})

    @property
    def facts(self) -> dict[str, str]:
        """What there is to say, by its name on the page."""
        facts = {
            "Command": self.command,
            "Version": f"Tacit {self.version}, {self.day}",
            "Data": self.data,
            "Checksum": self.checksum,
            "Channel auto": ", ".join(f"{name} at {e}" for e, name in self.auto.items()),
        }
        return {name: said for name, said in facts.items() if said}


def data_sentence(ratings: Ratings) -> str:
    """Whose ratings of what, in a sentence."""
    return (
        f"{ratings.name}: {len(ratings):,} ratings by {ratings.n_users:,} users of "
        f"{ratings.n_items:,} items, {ratings.scale}."
    )
