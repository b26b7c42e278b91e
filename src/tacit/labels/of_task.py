"""Label of a task: the guarantees of its plan with each of its channels."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from tacit.channels.table import Channel
from tacit.collection.task_guarantee import (
    all_channels_guarantees,
    channel_guarantees,
    task_guarantee,
)
from tacit.errors import RequestError
from tacit.labels.label import AttackFigure, Keeping, Label, Terms
from tacit.wire.task import Task

UNBOUNDED = (
    "No guarantee per user: the rated items are reported as they are. The values of n ratings "
    "together cost n times epsilon, up to the limit that the user sets on the device."
)
EVERY_CHANNEL = (
    "all of these tables, if the user raises the maximum epsilon and the device reports on every "
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
        "stay on the device.",
        terms=tuple(_terms(task, delta)),
        unbounded=None if task.hides_presence else UNBOUNDED,
        keeping=Keeping(
            epoch_seconds=task.epoch_seconds, late_epochs=task.window, days=task.retention_days
        ),
        found=found,
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
        f"checked in integers ({channel.id[:12]})"
    )


def _terms(task: Task, delta: str) -> Iterator[Terms]:
    for channel in task.channels:
        promises = tuple(channel_guarantees(task, channel, delta))
        yield Terms(through=through(channel), channel=channel.id, promises=promises)
    if summed := tuple(all_channels_guarantees(task)):
        yield Terms(through=EVERY_CHANNEL, promises=summed)
