"""An epoch of a task, as limits count in it."""

from typing import NamedTuple

from tacit.wire.task import Task


class Epoch(NamedTuple):
    """`task`: the address it is counted under, 32 bytes. `begins`, `ends`: Unix seconds."""

    task: bytes
    number: int
    begins: int
    ends: int


def counted(task: Task) -> bytes:
    """The address under which reports to a task are counted, 32 bytes: of its question, so that a
    task and the one that continues it are counted together."""
    return bytes.fromhex(task.question)


def epoch_of(task: Task, number: int) -> Epoch:
    """The epoch of that number."""
    begins = task.start + number * task.epoch_seconds
    return Epoch(counted(task), number, begins, begins + task.epoch_seconds)
