"""Deleting reports when their time is over, or their person asked for it; never taking what was
deleted again."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tacit.collector.clock import TrustedClock
from tacit.collector.http.validation import ReportValidator
from tacit.collector.storage.store import ReportStore
from tacit.collector.storage.writer import Writer
from tacit.wire.task import DAY, Task

log = logging.getLogger(__name__)

LATE = 2
"""Epochs after that of an erasure for which reports may have been made by then: devices' clocks may
be an epoch ahead, and another collector's a little behind."""


class Swept(NamedTuple):
    """For what the reports of a task were last gone through: epochs up to `last`, so many people
    who asked to be erased, and, where there are some, in which epoch."""

    last: int
    erased: int
    epoch: int


def due(task: Task, now: float) -> int:
    """The last epoch whose reports may no longer be kept at a moment; below 0 for none."""
    return task.epoch(now - task.retention_days * DAY) - 1


async def delete(validator: ReportValidator, writer: Writer, now: float) -> int:
    """Delete what is due, a slice of the ids at a time so that uploads go on; returns how many.

    The epochs are shut first, in the database: a crash in between deletes later, and a clock that
    goes back does not open them again.
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
    """Delete what is due now, and then whenever something is: for as long as the collector runs.

    While the clock is not trusted nothing is deleted. `turn`: what else is to be done at times, on
    the writer's thread. A database that does not answer is asked again the next time.
    """
    done: dict[int, Swept] = {}
    while True:
        now = clock()
        try:
            clock.hear(await writer.run(lambda store, now=now: clock.keep(store, now)))
            if turn is not None:
                await writer.run(lambda store, now=now: turn(now))
        except Exception as error:
            log.warning("The clock could not be saved yet: %s.", type(error).__name__)
        for validator in validators:
            now = clock()
            if not clock.trusted:
                continue
            try:
                await _sweep(validator, writer, now, done)
            except Exception as error:
                log.warning("Reports could not be deleted yet: %s.", type(error).__name__)
        await asyncio.sleep(every)


async def _sweep(
    validator: ReportValidator, writer: Writer, now: float, done: dict[int, Swept]
) -> None:
    """Delete where something may be due since the last time. Late reports of somebody who asked to
    be erased may come in any epoch, until none of theirs is taken any more."""
    number, last = validator.held.number, max(due(validator.task, now), validator.closed)
    erased = await writer.run(lambda store: store.erasures(number))
    found = Swept(last, erased, validator.task.epoch(now) if erased else 0)
    if done.get(number) != found and (last >= 0 or erased):
        await delete(validator, writer, now)
        over = validator.epochs(now).start - LATE - 1
        forgotten = await writer.run(lambda store: store.settle(number, over))
        found = Swept(last, erased - forgotten, found.epoch)
    done[number], validator.closed = found, last
