"""Deleting reports when their time is over, and never taking them again."""

import asyncio
from collections.abc import Callable, Iterable

from tacit.collector.intake import Intake
from tacit.collector.store import Store
from tacit.collector.writer import Writer
from tacit.wire.task import DAY, Task


def due(task: Task, now: float) -> int:
    """The last epoch whose reports may no longer be kept at a moment; below 0 for none."""
    return task.epoch(now - task.retention_days * DAY) - 1


async def delete(intake: Intake, writer: Writer, now: float) -> int:
    """Delete what is due, a slice of the ids at a time so that uploads go on; returns how many.

    The epochs are shut first, in the database: a crash in between deletes later, and a clock that
    goes back does not open them again.
    """
    number, last = intake.held.number, max(due(intake.task, now), intake.closed)
    if last < 0:
        return 0

    def shut(store: Store) -> None:
        store.shut(number, last)

    def forget(store: Store, first_byte: int) -> int:
        return store.forget(number, last, first_byte)

    intake.closed = last
    await writer.run(shut)
    deleted = 0
    for byte in range(256):
        deleted += await writer.run(lambda store, byte=byte: forget(store, byte))
    return deleted


async def keep(
    intakes: Iterable[Intake], writer: Writer, clock: Callable[[], float], every: float = 600.0
) -> None:
    """Delete what is due now, and then whenever something is: for as long as the collector runs."""
    done: dict[str, int] = {}
    while True:
        for intake in intakes:
            last = max(due(intake.task, clock()), intake.closed)
            if done.get(intake.task.address) != last:
                await delete(intake, writer, clock())
                done[intake.task.address] = last
        await asyncio.sleep(every)
