"""Deleting reports when their time is over, and never taking them again."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from tacit.collector.intake import Intake
from tacit.collector.store import Store
from tacit.collector.writer import Writer
from tacit.wire.task import DAY, Task

log = logging.getLogger(__name__)


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
    """Delete what is due now, and then whenever something is: for as long as the collector runs.

    A database that does not answer is asked again the next time.
    """
    done: dict[str, int] = {}
    while True:
        for intake in intakes:
            address, last = intake.task.address, max(due(intake.task, clock()), intake.closed)
            if done.get(address) == last:
                continue
            try:
                await delete(intake, writer, clock())
                done[address] = last
            except Exception as error:
                log.warning("Reports could not be deleted yet: %s.", type(error).__name__)
        await asyncio.sleep(every)
