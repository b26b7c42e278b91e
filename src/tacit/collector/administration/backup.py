"""Backup and restore of a store while collectors run: a backup is a store in one SQLite file.

It has every report that was acknowledged before the backup began: tasks are read first, and reports
of each in one snapshot. The same file restores into SQLite and PostgreSQL. Token counts and their
keys are never in a backup.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from tacit.atomic_files import atomic
from tacit.collector.administration.deletion import purge, settled
from tacit.collector.administration.summary import questions
from tacit.collector.administration.tombstones import Tombstones, merged, of_store
from tacit.collector.ingest.retention import LATE
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import Held, Inspector, ReportStore, StoredReport
from tacit.errors import RequestError


class Copied(NamedTuple):
    """Number of copied reports, and of reports that a tombstone kept out."""

    reports: int
    erased: int


def back_up(source: Inspector, path: Path) -> Copied:
    """Write a backup of a store, which is complete once it is at `path`.

    Owner-only permissions. An earlier file is replaced. Raises `OSError` and `RequestError`.
    """
    with atomic(path, private=True) as partial:
        try:
            with closing(SqliteStore(str(partial))) as target:
                copied = _copy(source, target, of_store(source))
        finally:
            for ending in ("-wal", "-shm"):  # left behind only by an error
                with suppress(FileNotFoundError):
                    partial.with_name(partial.name + ending).unlink()
    return copied


def restore(backup: Inspector, target: ReportStore, several: Sequence[Tombstones]) -> Copied:
    """Add the reports of a backup to a store, except those that were erased since.

    `several`: tombstones that are replayed, besides those of the backup. Reports that the store has
    are kept, so an interrupted restore is repeated. Raises `RequestError` if the store has other
    tasks.
    """
    known = {held.document for held in backup.tasks()}
    if any(held.document not in known for held in target.tasks()):
        raise RequestError("The store has tasks that the backup lacks. Restore into a new store.")
    tombstones = merged([of_store(backup), *several])
    return _copy(backup, target, tombstones)


def _copy(source: Inspector, target: ReportStore, tombstones: Tombstones) -> Copied:
    held = source.tasks()
    numbers = _register(held, target)
    if target.clock() is None and (clock := source.clock()) is not None:
        target.set_clock(clock)
    reports = erased = 0
    for number, (task, *_) in questions(held).items():
        epochs = {
            person: epoch + LATE
            for (question, person), epoch in tombstones.items()
            if question == task.question
        }
        _erase(source, target, numbers, number, epochs)
        for rows in source.scan(number):
            rest = [row for row in rows if row.epoch > epochs.get(row.person, -1)]
            _insert(target, rest, numbers[number])
            reports, erased = reports + len(rest), erased + len(rows) - len(rest)
    return Copied(reports, erased)


def _register(held: Sequence[Held], target: ReportStore) -> dict[int, int]:
    """Register tasks, oldest first. Returns the number in the target by that in the source."""
    numbers: dict[int, int] = {}
    before: dict[int, list[bytes]] = {}
    for each in reversed(held):
        same = before.setdefault(each.number, [])
        numbers[each.number] = target.hold(each.document, same).number
        same.append(each.document)
        if each.closed >= 0:
            target.shut(numbers[each.number], each.closed)
    return numbers


def _erase(
    source: Inspector,
    target: ReportStore,
    numbers: Mapping[int, int],
    number: int,
    epochs: Mapping[bytes, int],
) -> None:
    """Record the tombstones under which a report may still arrive, and delete what they cover."""
    held = next(each for each in source.tasks() if each.number == number)
    task = questions([held])[number][0]
    # At the time of the backup: a tombstone too many is purged later, one too few is not repaired.
    over = settled(task, held.closed, source.clock() or time.time())
    recent = {person: epoch - LATE for person, epoch in epochs.items() if epoch - LATE > over}
    for person, epoch in recent.items():
        target.erase(numbers[number], person, epoch)
    if recent:
        purge(target, numbers[number], -1)


def _insert(target: ReportStore, rows: Sequence[StoredReport], number: int) -> None:
    if rows:
        target.insert([row._replace(task=number) for row in rows])
