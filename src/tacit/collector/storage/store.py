"""What a store of reports does, whichever database it is."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

READ_AT_ONCE = 4096
"""Rows of a scan that are in memory together."""


class StoredReport(NamedTuple):
    """One report as it is stored: no time but the epoch, nothing about how it came.

    `task`: the store's number of the task. `mech`: the place of the channel in the task. `cells`:
    the symbols, packed (`tacit.collector.storage.slot_codec`).
    """

    id: bytes
    task: int
    epoch: int
    mech: int
    person: bytes
    cells: bytes


class Held(NamedTuple):
    """A task that the store holds. Epochs up to `closed` were deleted and stay shut for ever.

    Tasks of one question have one `number`: reports to any of them are kept together.
    """

    number: int
    document: bytes
    closed: int


class ReportOutcome(StrEnum):
    """What became of a report: durable now, durable before, or refused for an earlier one."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


class StoreError(Exception):
    """The database does not answer; nothing of the batch was stored."""


class UncertainError(StoreError):
    """Whether the batch was stored is not known: the answer to its commit was lost."""


class ReportStore(Protocol):
    """One writer's connection. Every method but `scan` is called from one thread."""

    def hold(self, document: bytes, same: Sequence[bytes] = ()) -> Held:
        """Keep a task, once; `same`: documents that ask the same, whose number it has where they
        are held."""
        ...

    def tasks(self) -> list[Held]:
        """Every task, the latest first."""
        ...

    def insert(self, rows: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Store rows in one transaction that is durable on return, and say what became of each.

        The first row of an id wins, here or before. Raises `StoreError` when nothing was stored.
        """
        ...

    def shut(self, task: int, epoch: int) -> None:
        """Take no report of epochs up to `epoch` any more, whatever the clock will say."""
        ...

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        """Delete the reports of epochs up to `epoch`, and those of people who asked to be erased,
        whose ids begin with a byte; how many."""
        ...

    def erase(self, task: int, person: bytes, epoch: int) -> None:
        """Leave a person's reports to a task out from now on; durable on return. `epoch`: when they
        asked for it."""
        ...

    def erasures(self, task: int) -> int:
        """How many people are left out of a task."""
        ...

    def settle(self, task: int, epoch: int) -> int:
        """Forget who asked to be erased in epochs up to `epoch`; how many."""
        ...

    def clock(self) -> int | None:
        """The last clock that was trusted, Unix seconds; None in a store that never kept one."""
        ...

    def keep_clock(self, now: int, limit: int) -> int:
        """Move the trusted clock on to `now`, unless that is more than `limit` seconds ahead of it;
        gives what is kept then."""
        ...

    def set_clock(self, now: int) -> None:
        """Trust this clock, whatever was kept."""
        ...

    def newest(self) -> list[tuple[bytes, int]]:
        """The document of each task that has reports, and the epoch of the newest. Reads them
        all."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


def outcomes(
    rows: Sequence[StoredReport], before: Mapping[bytes, StoredReport]
) -> list[ReportOutcome]:
    """What became of `rows`; `before`: what was stored under their ids already."""
    stored = dict(before)
    found: list[ReportOutcome] = []
    for row in rows:
        first = row.id not in stored
        same = stored.setdefault(row.id, row) == row
        found.append(
            ReportOutcome.STORED
            if first
            else ReportOutcome.DUPLICATE
            if same
            else ReportOutcome.CONFLICT
        )
    return found


class Reader(Protocol):
    """A connection that only reads, beside a running collector or without one."""

    def tasks(self) -> list[Held]:
        """Every task, the latest first; raises `RequestError` where there is no store."""
        ...

    def scan(self, task: int) -> Iterator[list[StoredReport]]:
        """The reports of a task, some thousands at a time, in no order that means anything."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


@runtime_checkable
class TableReader(Reader, Protocol):
    """A reader that can also give reports of one cell each without making an object of each."""

    def tables(self, task: int) -> Iterator[bytes]:
        """What `scan` gives, as bytes of rows of the type `slot_codec.STORED`, all of one state of
        the store. For a task under the plan rated alone."""
        ...
