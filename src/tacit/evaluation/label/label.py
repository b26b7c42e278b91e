"""A label: what whoever is asked should be told of a task, a model or a comparison.

No field is typed by hand: each is computed from the bytes that the label is about, so that it
cannot say anything else than what runs. What an attacker finds is played on made-up data, since a
figure of protected ratings would be a release of its own.
"""

from dataclasses import dataclass
from typing import Literal

from tacit.evaluation.label.attack_figure import AttackFigure
from tacit.privacy.guarantee import Guarantee

Kind = Literal["task", "model", "result"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What may be agreed to: `through` what answers leave, in words, and what that promises, the
    smallest unit first and a whole person last. `channel`: the table's id; None without one."""

    through: str
    promises: tuple[Guarantee, ...]
    channel: str | None = None


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """For how long: an epoch lasts `epoch_seconds`, reports are taken `late_epochs` later, and
    deleted `days` after their epoch closed."""

    epoch_seconds: int
    late_epochs: int
    days: int


@dataclass(frozen=True, kw_only=True)
class Label:
    """`address`: SHA-256 of the bytes that the label is about. `asked_by`: an origin. `leaves`:
    what leaves a device, or what a curator releases, a sentence. `terms`: to choose among.
    `unbounded`: why nothing bounds a whole person, a sentence; None where something does.
    `keeping`: of reports; None where there are none. `found`: by attackers, on made-up data."""

    kind: Kind
    name: str
    address: str
    asked_by: str | None
    leaves: str
    terms: tuple[Terms, ...]
    unbounded: str | None
    keeping: Keeping | None
    found: tuple[AttackFigure, ...] = ()

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        """All of them, in order."""
        return tuple(one for terms in self.terms for one in terms.promises)

    @property
    def trusted(self) -> tuple[str, ...]:
        """Who is trusted, each once."""
        return tuple(dict.fromkeys(one.trust for one in self.promises))

    @property
    def public(self) -> tuple[str, ...]:
        """What is protected from nobody, each once."""
        return tuple(dict.fromkeys(what for one in self.promises for what in one.public))

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Parts inferred from the ratings, which no guarantee covers, each once."""
        return tuple(dict.fromkeys(what for one in self.promises for what in one.uncovered))
