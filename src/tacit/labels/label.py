"""Privacy label of a task, a model or a comparison.

All fields are computed from the labelled bytes, so that the label matches what runs. Attacks are
simulated on synthetic data, because a figure on protected ratings would be a release in itself.
"""

from dataclasses import dataclass
from typing import Literal

from tacit.privacy.guarantee import Guarantee


@dataclass(frozen=True, kw_only=True)
class AttackFigure:
    """`value`: of the metric `figure`, a share from 0 to 1. `baseline`: the same without reports.
    `through`: the terms. `knows`: the attacker's background knowledge, a sentence. `setting`: its
    amount. `data`: the simulated users, a sentence that states that they are synthetic."""

    attack: str
    through: str
    knows: str
    setting: str
    figure: str
    value: float
    baseline: float
    data: str


Kind = Literal["task", "model", "result"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Terms that a user may accept. `through`: the mechanism, in words. `promises`: its guarantees,
    smallest unit first, per user last. `channel`: id of the channel, None without one."""

    through: str
    promises: tuple[Guarantee, ...]
    channel: str | None = None


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Retention: an epoch lasts `epoch_seconds`, reports are accepted up to `late_epochs` late, and
    deleted `days` after their epoch closed."""

    epoch_seconds: int
    late_epochs: int
    days: int


@dataclass(frozen=True, kw_only=True)
class Label:
    """`address`: SHA-256 of the labelled bytes. `asked_by`: origin of the provider. `leaves`: the
    data that a device sends or a curator releases, a sentence. `terms`: alternatives. `unbounded`:
    the reason for a missing guarantee per user, a sentence, or None. `keeping`: retention of
    reports, None without reports. `found`: results of attacks on synthetic data."""

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
        """The guarantees of all terms, in order."""
        return tuple(one for terms in self.terms for one in terms.promises)

    @property
    def trusted(self) -> tuple[str, ...]:
        """Distinct trusted parties."""
        return tuple(dict.fromkeys(one.trust for one in self.promises))

    @property
    def public(self) -> tuple[str, ...]:
        """Distinct public parts, which no guarantee protects."""
        return tuple(dict.fromkeys(what for one in self.promises for what in one.public))

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Distinct parts that were inferred from the ratings, which no guarantee covers."""
        return tuple(dict.fromkeys(what for one in self.promises for what in one.uncovered))
