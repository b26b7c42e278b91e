"""Epochs of tasks, as used by limits."""

from typing import NamedTuple

from tacit.wire.task import Task


class Epoch(NamedTuple):
    """`task`: the address it is counted under, 32 bytes. `begins`, `ends`: Unix seconds."""

    task: bytes
    number: int
    begins: int
    ends: int


def counted(task: Task) -> bytes:
    """Return the address under which reports to a task are counted, 32 bytes.

    It is that of the question, so a task and its continuation are counted together.
    """
    return bytes.fromhex(task.question)


def epoch_of(task: Task, number: int) -> Epoch:
    """Return the epoch with this number."""
    begins = task.start + number * task.epoch_seconds
    return Epoch(counted(task), number, begins, begins + task.epoch_seconds)
