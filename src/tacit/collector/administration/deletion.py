"""Deletion by operators: of a person's reports, by reference code or token, and of expired ones.

A person's reports are first excluded by a tombstone, as in an erasure by a device, and then
deleted. The tombstone also excludes reports that arrive later, such as a repeated upload.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from tacit.collector.administration.summary import questions
from tacit.collector.ingest.clock import TrustedClock, tolerance
from tacit.collector.ingest.retention import LATE, due
from tacit.collector.limits.counts import Counts
from tacit.collector.limits.keys import OTHER_KEYS, EpochKeys, counted, epoch_of, mark_of
from tacit.collector.limits.limits import Charge, names
from tacit.collector.storage.addresses import is_postgres
from tacit.collector.storage.sqlite_counts import SqliteCounts
from tacit.collector.storage.store import Inspector, ReportStore
from tacit.errors import RequestError
from tacit.wire.tasks.task import Task

_CODE = re.compile(r"[0-9a-f]{32}")
AT_ONCE = 1000
"""Pseudonyms that are looked up in the token counts at once."""


def pseudonym(code: str) -> bytes:
    """Return the pseudonym of a reference code, 16 bytes.

    Spaces, hyphens and capitals are accepted. Raises `RequestError` for anything else.
    """
    digits = re.sub(r"[\s-]", "", code).lower()
    if not _CODE.fullmatch(digits):
        raise RequestError(
            "A reference code must have 32 hexadecimal digits, as a device shows it, got "
            f"{len(digits)} characters."
        )
    return bytes.fromhex(digits)


def trusted_now(store: ReportStore, tasks: Iterable[Task]) -> float:
    """Return the time, Unix seconds; raises `RequestError` where a collector would not trust it."""
    clock = TrustedClock(time.time, time.monotonic, tolerance(tasks))
    clock.start(store, confirmed=False)
    now = clock()
    if not clock.trusted:
        raise RequestError(
            "The clock of this machine is far from the last trusted time of the store. Set it, or "
            "start the collector once with --confirm-clock."
        )
    return now


def delete_people(store: ReportStore, people: Sequence[bytes]) -> int:
    """Delete all reports of some pseudonyms, in every task. Returns their number.

    The tombstones are durable before the first report is deleted: after a crash, no reader finds
    the reports, and the collector deletes them. Raises `RequestError` without a task.
    """
    by_number = questions(store.tasks())
    if not by_number:
        raise RequestError("The store has no task, and therefore no reports.")
    now = trusted_now(store, [task for tasks in by_number.values() for task in tasks])
    for number, tasks in by_number.items():
        for person in people:
            store.erase(number, person, tasks[0].epoch(now))
    return sum(purge(store, number, -1) for number in by_number)


def purge(store: ReportStore, number: int, epoch: int) -> int:
    """Delete reports of epochs up to `epoch` and of erased people, in slices; returns their number.

    Slices of the ids let a collector on the same store continue between them.
    """
    return sum(store.forget(number, epoch, byte) for byte in range(256))


def prune(store: ReportStore) -> dict[str, int]:
    """Delete expired reports now, and tombstones of which no report can arrive any more.

    As a running collector does every ten minutes. Returns the number of reports by the address of
    the newest task. Raises `RequestError` if the clock is not trusted.
    """
    held = {each.number: each for each in store.tasks()}
    by_number = questions(held.values())
    pruned: dict[str, int] = {}
    for number, (task, *_) in by_number.items():
        now = trusted_now(store, [task])
        last = max(due(task, now), held[number].closed)
        if last >= 0:
            store.shut(number, last)
        pruned[task.address] = purge(store, number, last)
        store.settle(number, settled(task, last, now))
    return pruned


def settled(task: Task, closed: int, now: float) -> int:
    """Return the last epoch of erasures from before which no report can arrive any more.

    `closed`: last closed epoch of the task. `now`: Unix seconds.
    """
    return max(task.epoch(now) - task.window, closed + 1, 0) - LATE - 1


def people_of_token(db: str, keys: Path | None, digest: bytes, inspector: Inspector) -> list[bytes]:
    """Return the pseudonyms that a token was used with in the current epoch of each task.

    Earlier uses cannot be found: their keys are gone. `keys`: the key file of token counts;
    default: next to the SQLite file. `digest`: SHA-256 of the token. Raises `RequestError` without
    the key file, and for one whose keys are not those of the counts.
    """
    path = keys or Path(db).with_suffix(".tokens.keys")
    if (keys is None and is_postgres(db)) or not path.is_file():
        raise RequestError(
            "--token-keys is required: the key file of the collectors on this database."
        )
    people: set[bytes] = set()
    with closing(_counts(db)) as counts:
        file = EpochKeys(path, time.time())
        for number, (task, *_) in questions(inspector.tasks()).items():
            everyone = {row.person for rows in inspector.scan(number) for row in rows}
            people.update(_counted(counts, file, task, digest, everyone))
    return sorted(people)


def _counts(db: str) -> Counts:
    if is_postgres(db):
        from tacit.collector.storage.postgres_counts import PostgresCounts

        return PostgresCounts(db)
    return SqliteCounts(str(Path(db).with_suffix(".tokens.db")))


def _counted(
    counts: Counts, file: EpochKeys, task: Task, digest: bytes, everyone: Iterable[bytes]
) -> Iterator[bytes]:
    """Yield the people that are counted with a token in the running epoch of a task."""
    address = counted(task)
    with counts.transaction():
        running = counts.running().get(address)
        if running is None or running.mark is None:
            return
        key = file.stored(epoch_of(task, running.epoch))
        if key is None or mark_of(key) != running.mark:
            raise RequestError(OTHER_KEYS)
        some_people = iter(everyone)
        while some := frozenset(islice(some_people, AT_ONCE)):
            by_name = {
                names(key, Charge(digest, address, 0.0, 0, frozenset({person})))[1][0]: person
                for person in some
            }
            yield from (by_name[name] for name in counts.known(address, by_name))
