"""State of a shuffler: open tasks, their bundles, and closing of a batch at its published time.

A task is closed in steps, each of which is durable before the next: bundles are refused, the batch
is written, the register shows the closing, and the bundles are deleted. After a crash the steps are
repeated, with the same batch. A batch below the least number of bundles is never written.

A batch is available only after its bundles are deleted, from the disk and from memory: when the
provider has it, nothing in the shuffler links a bundle to it. The store confirms the deletion from
the disk, and only a process that has started afterwards hands the batch over.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from tacit.collector.ingest.clock import DAYS, TrustedClock
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.collector.storage.store import ReportOutcome, ReportStore, StoreError
from tacit.errors import RequestError, TacitError
from tacit.shuffler.batch_files import BatchFiles, RegisterFile
from tacit.shuffler.held_bundles import HeldBundles, deleted_tasks, row_of
from tacit.wire.shuffled.register import Register
from tacit.wire.shuffled.task import ShuffledTask, loads
from tacit.wire.tasks.terms import DAY

log = logging.getLogger(__name__)

STORE, REGISTER = "bundles.db", "register.jsonl"
"""Files in the folder of a shuffler."""
READY = b"tacit-ready-1"
"""Document under which the store has the names of people who are ready for the next task."""
RETENTION_DAYS = 30
"""Days after closing when a batch that the provider did not delete is deleted."""
SAVE_SECONDS = 600.0
"""Seconds after which the trusted clock is stored again."""
LOG_SECONDS = 1.0
"""Longest wait for readers of the log: many short reads cannot prevent that it is emptied."""


class Shuffler:
    """The tasks of one provider in a folder, on the writer's store `STORE`.

    `forgotten`: starts the program anew, after bundles were deleted, which memory may still
    contain. Their batch is not available before.
    """

    def __init__(self, folder: Path, clock: TrustedClock, forgotten: Callable[[], None]) -> None:
        self.clock = clock
        self._forgotten = forgotten
        self._folder = folder
        self._register = RegisterFile(folder / REGISTER)
        self._files = BatchFiles(folder)
        self._tasks: dict[str, ShuffledTask] = {}
        self._bundles = HeldBundles(folder / STORE)
        self._ready, self._saved = 0, -SAVE_SECONDS
        self._closing: set[str] = set()
        self._in_memory: set[str] = set()  # tasks whose bundles this process has deleted, or tried
        self._deleted: set[str] = set()  # tasks whose deletion the store has confirmed

    @property
    def register(self) -> Register:
        """The public register."""
        return self._register.current

    @property
    def tasks(self) -> dict[str, ShuffledTask]:
        """All tasks by address."""
        return self._tasks

    def start(self, store: ReportStore, tasks: Sequence[ShuffledTask]) -> None:
        """Register new tasks, next to those in the store.

        Raises `RequestError` for tasks of several providers, for a second open one, for a new task
        that is closed already, and for a register and a store that do not match.
        """
        self._ready = store.hold(READY).number
        for held in store.tasks():
            with suppress(TacitError):  # an obsolete format
                self._hold(store, loads(held.document))
        self._deleted = deleted_tasks(store) & self.register.closed.keys()
        if not self._tasks.keys() >= set(self.register.open.values()):
            raise RequestError(
                f"{STORE} lacks an open task of {REGISTER}; restore both files of one moment."
            )
        for task in tasks:
            self._require(task)
            if not self.register.is_listed(task.address):
                self._hold(store, task)
                self._register.add(
                    lambda lines, task=task: lines.add_task(task.address, task.provider)
                )
                for byte in range(256):  # people are ready for one task
                    store.forget(self._ready, 0, byte)

    def open_task(self, address: str) -> ShuffledTask | None:
        """Return a task that accepts bundles; None for an unknown or a closed one."""
        is_open = address in self.register.open.values() and address not in self._closing
        task = self._tasks.get(address) if is_open else None
        return task if task is not None and self.clock() < task.closes else None

    async def add(
        self,
        writer: Writer,
        task: ShuffledTask,
        identity: bytes,
        bundle: bytes,
        signed: bytes,
    ) -> ReportOutcome:
        """Store the bundle of a token's holder, durably. The first one of a holder is final.

        `signed`: the provider's one-time token with its signature, if the task requires one. It is
        stored apart from the bundle, in the same transaction. Raises `StoreError` if they are not
        stored.
        """
        return await self._bundles.add(writer, task, identity, bundle, signed)

    async def add_ready(self, writer: Writer, identity: bytes) -> None:
        """Store that a token's holder is ready for the next task. Raises `StoreError` if not."""
        await writer.put([row_of(self.register.head.encode(), identity, self._ready, b"1")])

    async def ready(self) -> int:
        """Return the number of people who are ready for the next task."""

        def counted() -> int:
            with closing(SqliteReader(str(self._folder / STORE))) as reader:
                return sum(count for each, _, count in reader.counts() if each == self._ready)

        return await asyncio.to_thread(counted)

    def batch(self, address: str) -> Path | None:
        """Return the file of a released batch whose bundles are deleted; None without one."""
        return self._released(address) if self._is_erased(address) else None

    def is_pending(self, address: str) -> bool:
        """Return whether a batch is released, and its bundles are not deleted yet."""
        return self._released(address) is not None and not self._is_erased(address)

    def _released(self, address: str) -> Path | None:
        result = self.register.closed.get(address)
        path = self._files.path(address)
        is_released = result is not None and result.batch is not None
        return path if is_released and path.exists() else None

    def _is_erased(self, address: str) -> bool:
        """Return whether neither the disk nor memory has bundles of a task."""
        return address in self._deleted and address not in self._in_memory

    @property
    def open_tasks(self) -> list[ShuffledTask]:
        """Tasks that accept bundles."""
        return [task for address, task in self._tasks.items() if self.open_task(address)]

    @property
    def closing_lag(self) -> float:
        """Seconds since the earliest closing time of a task whose bundles are not deleted."""
        return self._age(address for address in self._tasks if not self._is_erased(address))

    @property
    def batch_age(self) -> float:
        """Seconds since the earliest closing time of a task whose batch is not deleted."""
        return self._age(address for address in self._tasks if self._released(address) is not None)

    def _age(self, addresses: Iterable[str]) -> float:
        """Return the seconds since the earliest closing time; 0 if none is past."""
        now = self.clock()
        return max([0.0, *(now - self._tasks[address].closes for address in addresses)])

    def delete(self, address: str) -> None:
        """Delete a released batch, which the provider has received."""
        if self._released(address) is not None:
            self._files.delete(address)

    async def keep(self, writer: Writer, every: float = 1.0) -> None:
        """Close tasks at their time, and delete old batches, while the shuffler runs.

        Nothing is closed, and no batch is deleted, while the clock is not trusted. The bundles of a
        closed task are deleted whatever the clock. After an error it is retried.
        """
        while True:
            await _attempt(self._save_clock(writer))
            for task in list(self._tasks.values()):
                await _attempt(self._finish(writer, task))
            await asyncio.sleep(every)

    async def _save_clock(self, writer: Writer) -> None:
        if monotonic() >= self._saved + SAVE_SECONDS:
            now = self.clock()
            self.clock.hear(await writer.run(lambda store: self.clock.keep(store, now)))
            self._saved = monotonic()

    async def _finish(self, writer: Writer, task: ShuffledTask) -> None:
        now = self.clock()
        is_due = self.clock.trusted and now >= task.closes
        if is_due or task.address in self.register.closed:
            await self._close(writer, task)
        if self.clock.trusted and now >= task.closes + RETENTION_DAYS * DAY:
            self.delete(task.address)

    async def _close(self, writer: Writer, task: ShuffledTask) -> None:
        address = task.address
        if address in self.register.open.values():
            self._closing.add(address)
            await self._bundles.shut(writer, address)
            result = await asyncio.to_thread(self._bundles.release, task, self._files)
            self._register.add(lambda lines: lines.add_closing(address, result))
            state = "released" if result.batch else "not released"
            log.info("A batch is closed and %s.", state, extra={"event": "closed"})
        if address not in self._deleted:
            # Before the first step: this process, which read or received them, never serves the
            # batch, whichever step fails.
            self._in_memory.add(address)
            await self._bundles.delete(writer, address)
            await writer.run(lambda store: self._scrub())
            await self._bundles.confirm(writer, address)
            self._deleted.add(address)
            self._forgotten()

    def _scrub(self) -> None:
        """Empty the log of the database, which has deleted bundles. Raises `StoreError` if not."""
        with closing(sqlite3.connect(self._folder / STORE, timeout=LOG_SECONDS)) as database:
            (is_busy, *_) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:  # SQLite does not raise while another connection reads from the log
            raise StoreError("The log of the store is in use.")

    def _hold(self, store: ReportStore, task: ShuffledTask) -> None:
        self._bundles.register(store, task)
        self._tasks[task.address] = task

    def _require(self, task: ShuffledTask) -> None:
        others = {each.provider for each in self._tasks.values()} - {task.provider}
        if others:
            raise RequestError(
                f"This folder has tasks of {others.pop()}, and a shuffler has one provider; use "
                f"another --folder for {task.provider}."
            )
        if not self.register.is_listed(task.address) and task.closes <= self.clock():
            raise RequestError("The shuffled task is closed already; write a new one.")


async def _attempt(work: Coroutine[Any, Any, None]) -> None:
    """Log an error, after which the same work is attempted again later."""
    try:
        await work
    except Exception as error:
        cause = type(error).__name__  # messages may contain the input
        log.warning(
            "A task could not be closed yet: %s.",
            cause,
            extra={"event": "closing-failed", "cause": cause},
        )


def trusted_clock(
    store: ReportStore, wall: Callable[[], float], monotonic: Callable[[], float], confirmed: bool
) -> TrustedClock:
    """Return the clock of a shuffler, which continues from the time in its store."""
    clock = TrustedClock(wall, monotonic, DAYS * DAY)
    clock.start(store, confirmed)
    return clock
