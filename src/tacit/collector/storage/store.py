"""Protocols of report stores, for any database."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from queue import SimpleQueue
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from tacit.errors import RequestError

READ_AT_ONCE = 4096
"""Rows of a scan in memory at once."""


class StoredReport(NamedTuple):
    """One stored report: no time but the epoch, no metadata of its upload.

    `task`: the store's number of the task. `mech`: index of the channel in the task. `cells`:
    packed symbols (`tacit.collector.storage.slot_codec`).
    """

    id: bytes
    task: int
    epoch: int
    mech: int
    person: bytes
    cells: bytes


class Held(NamedTuple):
    """A registered task. Epochs up to `closed` were deleted and stay closed permanently.

    Tasks of one question have one `number`: their reports are stored together.
    """

    number: int
    document: bytes
    closed: int


class ReportOutcome(StrEnum):
    """Outcome of a report: stored, a duplicate of a stored one, or in conflict with one."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


class StoreError(Exception):
    """The database does not respond; nothing of the batch was stored.

    The message is the reason, for operators: it contains no address, password or stored value.
    """


class UncertainError(StoreError):
    """The response to a commit was lost: the batch may be stored or not."""


class UnreachableError(RequestError):
    """The database server does not respond yet, and may do so later."""


class ReportStore(Protocol):
    """Connection of one writer. All methods but `scan` are called from one thread."""

    def hold(self, document: bytes, same: Sequence[bytes] = ()) -> Held:
        """Register a task, once.

        `same`: documents of the same question; the task gets their number if they are registered.
        """
        ...

    def tasks(self) -> list[Held]:
        """Return all tasks, the latest first."""
        ...

    def insert(self, rows: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Store rows in one transaction that is durable on return. Returns the outcome of each.

        The first row of an id wins, here or earlier. Raises `StoreError` if nothing was stored.
        """
        ...

    def shut(self, task: int, epoch: int) -> None:
        """Reject reports of epochs up to `epoch` from now on, whatever the clock."""
        ...

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        """Purge reports whose ids begin with a byte, of epochs up to `epoch` or of erased people.

        Returns their number.
        """
        ...

    def erase(self, task: int, person: bytes, epoch: int) -> None:
        """Exclude a person's reports to a task from now on; durable on return.

        `epoch`: of the request.
        """
        ...

    def erasures(self, task: int) -> int:
        """Return the number of people excluded from a task."""
        ...

    def settle(self, task: int, epoch: int) -> int:
        """Purge erasure requests of epochs up to `epoch`. Returns their number."""
        ...

    def clock(self) -> int | None:
        """Return the last trusted clock, Unix seconds; None if it is missing."""
        ...

    def keep_clock(self, now: int, limit: int) -> int:
        """Advance the trusted clock to `now`, unless that is more than `limit` seconds ahead of it.

        Returns the stored clock.
        """
        ...

    def set_clock(self, now: int) -> None:
        """Replace the trusted clock."""
        ...

    def newest(self) -> list[tuple[bytes, int]]:
        """Return the document of each task with reports, and its newest epoch.

        Scans all reports.
        """
        ...

    def probe(self) -> None:
        """Write and commit, without a change, as storing a report does; reconnect if necessary.

        Raises `StoreError` if reports cannot be stored at the moment.
        """
        ...

    def close(self) -> None:
        """Close the database."""
        ...


def outcomes(
    rows: Sequence[StoredReport], before: Mapping[bytes, StoredReport]
) -> list[ReportOutcome]:
    """Return the outcomes of `rows`. `before`: reports stored earlier, by id."""
    stored = dict(before)
    results: list[ReportOutcome] = []
    for row in rows:
        first = row.id not in stored
        same = stored.setdefault(row.id, row) == row
        results.append(
            ReportOutcome.STORED
            if first
            else ReportOutcome.DUPLICATE
            if same
            else ReportOutcome.CONFLICT
        )
    return results


class Reader(Protocol):
    """A read-only connection, with or without a running collector."""

    def tasks(self) -> list[Held]:
        """Return all tasks, the latest first. Raises `RequestError` if the store does not exist."""
        ...

    def scan(self, task: int) -> Iterator[list[StoredReport]]:
        """Yield the reports of a task in batches of some thousands, in arbitrary order."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


@runtime_checkable
class TableReader(Reader, Protocol):
    """A reader that also returns reports of one cell each in bulk."""

    def tables(self, task: int) -> Iterator[bytes]:
        """Yield the reports of `scan` as bytes of rows of the type `slot_codec.STORED`.

        In one snapshot. For tasks under the plan rated only.
        """
        ...


@runtime_checkable
class TaskChecker(Reader, Protocol):
    """A reader that also finds reports which no task would read."""

    def check_tasks(self) -> None:
        """Raise `RequestError` if the store contains reports of an unknown task."""
        ...


class Tombstone(NamedTuple):
    """An erasure request: the store's number of the task, the pseudonym, the epoch of the request.

    Reports under the pseudonym are excluded, also those that arrive later.
    """

    task: int
    person: bytes
    epoch: int


class Inspector(Reader, Protocol):
    """A reader that also answers the questions of operators, without changing the store."""

    def counts(self) -> list[tuple[int, int, int]]:
        """Return the number of a task, an epoch, and the number of stored reports; scans all."""
        ...

    def of_person(self, task: int, person: bytes) -> list[StoredReport]:
        """Return the stored reports of a pseudonym to a task, erased ones included."""
        ...

    def tombstones(self) -> list[Tombstone]:
        """Return all erasure requests that are still recorded."""
        ...

    def clock(self) -> int | None:
        """Return the last trusted clock, Unix seconds; None if it is missing."""
        ...

    def size(self) -> int:
        """Return the bytes that the store occupies on its disk."""
        ...


# Parallel reads of a store's ranges by several connections, in order.

Connection = TypeVar("Connection")
Range = TypeVar("Range")
MOST = 8
"""Most connections of one reader; other clients need some, too."""


def at_once() -> int:
    """Return the number of connections to read with: one per core, up to `MOST`."""
    return min(os.cpu_count() or 1, MOST)


def in_order(
    read: Callable[[Connection, Range], bytes],
    connections: Sequence[Connection],
    ranges: Iterable[Range],
) -> Iterator[bytes]:
    """Yield `read(connection, range)` of every range, in the order of ranges.

    Each connection is used by one thread at a time, and at most as many ranges are in memory as
    there are connections. Raises what `read` raises, at the first range that does.
    """
    free = SimpleQueue[Connection]()
    for connection in connections:
        free.put(connection)

    def by_any(range: Range) -> bytes:
        connection = free.get()
        try:
            return read(connection, range)
        finally:
            free.put(connection)

    ahead = deque[Future[bytes]]()
    with ThreadPoolExecutor(len(connections)) as threads:
        for range in ranges:
            if len(ahead) == len(connections):
                yield ahead.popleft().result()
            ahead.append(threads.submit(by_any, range))
        while ahead:
            yield ahead.popleft().result()
