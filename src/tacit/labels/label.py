"""Privacy label of a task, a model or a comparison.

All fields are computed from the labelled bytes, so that the label matches what runs. Attacks are
simulated on synthetic data, because a figure on protected ratings would be a release in itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from tacit.channels.table import Channel
from tacit.collection.task_guarantee import (
    all_channels_guarantees,
    channel_guarantees,
    task_guarantee,
)
from tacit.errors import RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.wire.tasks.blocks import Growth
from tacit.wire.tasks.task import Task
from tacit.wire.tasks.terms import DAY


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
class BatchKeeping:
    """Retention by a shuffler: bundles until the batch is closed at `closes`, in Unix seconds, and
    the batch until the provider has received it, at most `days` days."""

    closes: int
    days: int


@dataclass(frozen=True, kw_only=True)
class Label:
    """`address`: SHA-256 of the labelled bytes. `asked_by`: origin of the provider. `leaves`: the
    data that a device sends or a curator releases, a sentence. `terms`: alternatives. `unbounded`:
    the reason for a missing guarantee per user, a sentence, or None. `keeping`: retention of
    reports or bundles, None without them. `found`: results of attacks on synthetic data.
    `explanation`: sentences on the guarantee per user, which its own sentence does not contain."""

    kind: Kind
    name: str
    address: str
    asked_by: str | None
    leaves: str
    terms: tuple[Terms, ...]
    unbounded: str | None
    keeping: Keeping | BatchKeeping | None
    found: tuple[AttackFigure, ...] = ()
    explanation: tuple[str, ...] = ()

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
    def conditions(self) -> tuple[str, ...]:
        """Distinct conditions of the guarantees."""
        return tuple(dict.fromkeys(what for one in self.promises for what in one.assumptions))

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Distinct parts that were inferred from the ratings, which no guarantee covers."""
        return tuple(dict.fromkeys(what for one in self.promises for what in one.uncovered))


# Label of a task: the guarantees of its plan with each of its channels.

UNBOUNDED_TASK = (
    "No guarantee per user: which items a user rated is not hidden. Published models can contain "
    "exact statistics of which items are rated together. The values of n ratings together cost n "
    "times epsilon, up to the limit set on the device."
)
EVERY_CHANNEL = (
    "all of these tables, if the user raises the maximum epsilon and the device reports every "
    "slot again"
)


def of_task(task: Task, *, delta: str, found: tuple[AttackFigure, ...] = ()) -> Label:
    """Return the label of a task.

    `delta`: of the guarantee per user, a decimal string above 0. `found`: results of attacks on
    synthetic data. Raises `CertificateError` for a channel that fails verification, and
    `RequestError` for an invalid delta.
    """
    _check_delta(delta)
    return Label(
        kind="task",
        name=task.name,
        address=task.address,
        asked_by=task.provider,
        leaves=f"A device sends {task_guarantee(task).released}, drawn at random. True ratings "
        f"stay on the device.{_extensions(task)}{_moves(task)}",
        terms=tuple(_terms(task, delta)),
        unbounded=None if task.hides_presence else UNBOUNDED_TASK,
        keeping=Keeping(
            epoch_seconds=task.epoch_seconds, late_epochs=task.window, days=task.retention_days
        ),
        found=found,
    )


def _extensions(task: Task) -> str:
    """Return sentences on the items that the provider added and may add."""
    if task.provider is None or (task.hides_presence and task.growth is None):
        return ""
    added = ""
    if task.lineage is not None:
        count = len(task.chain) - 1
        added = f" The provider has added items {count} times, {len(task.items):,} in all."
    if task.growth is not None:
        return f"{added} {_blocks(task.growth, task.epoch_seconds)}"
    return (
        f"{added} The provider can add items, and nothing else: ratings of new items are reported "
        "in the same way and under the same name. A device refuses two different additions to one "
        "task. That different users get different additions is not prevented."
    )


def _moves(task: Task) -> str:
    """Return sentences on the origins that the provider moved and may move to."""
    if task.provider_key is None:
        return ""
    moved = f" It moved from {' to '.join(task.origins)}." if task.moves else ""
    return (
        f"{moved} The provider can move to another origin, which its signing key proves. A device "
        "sends nothing there before its user agrees. It then continues with the same names."
    )


def _blocks(growth: Growth, epoch_seconds: int) -> str:
    """Return sentences on the reports to a task over slots that can be extended."""
    days = [f"{epoch * epoch_seconds / DAY:.3g}" for epoch in growth.renewals]
    again = (
        f"A device is queried about all of them again {', '.join(days)} days after the start."
        if days
        else "No item is queried again, so ratings made after its report are never reported."
    )
    return (
        "The provider can add items, which are reported under the same name. A device reports each "
        f"item once, and at most {growth.limit:,} items. It reserves the epsilon of all of them "
        f"before its first report. {again} A device chooses the items by its secret, "
        "and refuses two different additions to one task. That different users get different "
        "additions is not prevented."
    )


def _check_delta(delta: str) -> None:
    try:
        inside = 0 < Decimal(delta) < 1
    except InvalidOperation:
        inside = False
    if not inside:
        raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got '{delta}'.")


def through(channel: Channel) -> str:
    """Describe a channel in words."""
    inputs = f"{len(channel.levels)} levels{' and missing' if channel.missing else ''}"
    return (
        f"a table of {inputs} by {len(channel.outputs)} symbols at epsilon {channel.epsilon}, "
        f"verified in integer arithmetic ({channel.id[:12]})"
    )


def _terms(task: Task, delta: str) -> Iterator[Terms]:
    for channel in task.channels:
        promises = tuple(channel_guarantees(task, channel, delta))
        yield Terms(through=through(channel), channel=channel.id, promises=promises)
    if summed := tuple(all_channels_guarantees(task)):
        yield Terms(through=EVERY_CHANNEL, promises=summed)
