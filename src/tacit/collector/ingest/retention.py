"""Deletion of expired and erased reports, which are never accepted again."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tacit.collector.ingest.clock import TrustedClock
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.store import ReportStore
from tacit.wire.tasks.task import Task
from tacit.wire.tasks.terms import DAY

log = logging.getLogger(__name__)

LATE = 2
"""Epochs after an erasure for which reports may already exist: clocks of devices may be an epoch
ahead, and another collector's slightly behind."""


class Swept(NamedTuple):
    """State of a task's last deletion.

    `last`: last expired epoch. `erased`: number of erased people. `epoch`: the epoch it ran in, if
    there are any.
    """

    last: int
    erased: int
    epoch: int


def due(task: Task, now: float) -> int:
    """Return the last epoch whose reports have expired at a moment; below 0 for none."""
    return task.epoch(now - task.retention_days * DAY) - 1


async def delete(validator: ReportValidator, writer: Writer, now: float) -> int:
    """Delete expired reports in slices of the ids, so that uploads continue. Returns their number.

    The epochs are first closed in the database: after a crash deletion continues later, and a clock
    that goes back does not open them again.
    """
    number, last = validator.held.number, max(due(validator.task, now), validator.closed)

    def shut(store: ReportStore) -> None:
        store.shut(number, last)

    def forget(store: ReportStore, first_byte: int) -> int:
        return store.forget(number, last, first_byte)

    validator.closed = last
    if last >= 0:
        await writer.run(shut)
    deleted = 0
    for byte in range(256):
        deleted += await writer.run(lambda store, byte=byte: forget(store, byte))
    return deleted


async def keep(
    validators: Iterable[ReportValidator],
    writer: Writer,
    clock: TrustedClock,
    turn: Callable[[float], None] | None = None,
    every: float = 600.0,
) -> None:
    """Delete expired reports now and periodically, while the collector runs.

    Nothing is deleted while the clock is not trusted. `turn`: other periodic work on the writer's
    thread. After a database error it is retried at the next time.
    """
    done: dict[int, Swept] = {}
    while True:
        now = clock()
        try:
            clock.hear(await writer.run(lambda store, now=now: clock.keep(store, now)))
            if turn is not None:
                await writer.run(lambda store, now=now: turn(now))
        except Exception as error:
            _note("clock-not-saved", "The clock could not be saved yet: %s.", error)
        for validator in validators:
            now = clock()
            if not clock.trusted:
                continue
            try:
                await _sweep(validator, writer, now, done)
            except Exception as error:
                _note("deletion-failed", "Reports could not be deleted yet: %s.", error)
        await asyncio.sleep(every)


def _note(event: str, message: str, error: Exception) -> None:
    cause = type(error).__name__  # messages may contain the input
    log.warning(message, cause, extra={"event": event, "cause": cause})


async def _sweep(
    validator: ReportValidator, writer: Writer, now: float, done: dict[int, Swept]
) -> None:
    """Delete reports that may have expired since the last time.

    Late reports of an erased user may arrive in any epoch, until none of theirs is accepted any
    more.
    """
    number, last = validator.held.number, max(due(validator.task, now), validator.closed)
    erased = await writer.run(lambda store: store.erasures(number))
    swept = Swept(last, erased, validator.task.epoch(now) if erased else 0)
    if done.get(number) != swept and (last >= 0 or erased):
        await delete(validator, writer, now)
        over = validator.epochs(now).start - LATE - 1
        forgotten = await writer.run(lambda store: store.settle(number, over))
        swept = Swept(last, erased - forgotten, swept.epoch)
    done[number], validator.closed = swept, last
