"""Provenance of a report: command, version, date and data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Self

from tacit.evaluation.grid import fingerprint
from tacit.ratings import Ratings


@dataclass(frozen=True)
class Provenance:
    """`command`: the command line or the function called. `day`: ISO date, UTC. `data`: a sentence.
    `auto`: the channel that `auto` resolved to, by epsilon in nats per value or slot."""

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
        """Return the provenance of the current run. Ratings that are `protected` get no checksum:
        it would reveal information about them without a privacy cost."""
        day = datetime.now(UTC).date().isoformat()
        description = data_sentence(ratings)
        checksum = "" if protected else fingerprint(ratings)
        return cls(command, version("tacit-recommender"), day, description, checksum, auto or {})

    @property
    def facts(self) -> dict[str, str]:
        """Known facts by their names on the page."""
        facts = {
            "Command": self.command,
            "Version": f"Tacit {self.version}, {self.day}",
            "Data": self.data,
            "Checksum": self.checksum,
            "Channel auto": ", ".join(f"{name} at {e}" for e, name in self.auto.items()),
        }
        return {name: text for name, text in facts.items() if text}


def data_sentence(ratings: Ratings) -> str:
    """Describe ratings in a sentence: name, size and scale."""
    return (
        f"{ratings.name}: {len(ratings):,} ratings by {ratings.n_users:,} users of "
        f"{ratings.n_items:,} items, {ratings.scale}."
    )
