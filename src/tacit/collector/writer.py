"""Group commit: whatever waits is stored in one transaction, and acknowledged only afterwards."""

import asyncio
import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from tacit.collector.store import Outcome, Row, Store, StoreError

log = logging.getLogger(__name__)

MOST_ROWS = 4096
"""Rows of one transaction."""

T = TypeVar("T")
Job = Callable[[], None]


class _Upload(NamedTuple):
    rows: Sequence[Row]
    future: "asyncio.Future[list[Outcome]]"


class Writer:
    """The one thread that touches the database, and the only user of `store`.

    `counts`: reports by outcome, commits and failures, since the start. `failing`: whether the last
    transaction failed. `waiting`: reports that are not stored yet.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Upload | Job] = queue.SimpleQueue()
        self._open = True
        self.counts: Counter[str] = Counter()
        self.failing = False
        self.waiting = 0
        self._thread = threading.Thread(target=self._run, name="writer")
        self._thread.start()

    async def put(self, rows: Sequence[Row]) -> list[Outcome]:
        """Store rows; returns when they are durable. Raises `StoreError` when they are not."""
        future: asyncio.Future[list[Outcome]] = self._loop.create_future()
        self.waiting += len(rows)
        self._queue.put(_Upload(rows, future))
        try:
            return await future
        finally:
            self.waiting -= len(rows)

    async def run(self, work: Callable[[Store], T]) -> T:
        """Do something else with the store, on its thread and between two transactions."""
        future: asyncio.Future[T] = self._loop.create_future()

        def job() -> None:
            try:
                result = work(self._store)
            except Exception as error:
                self._loop.call_soon_threadsafe(_fail, [future], error)
            else:
                self._loop.call_soon_threadsafe(_settle, [(future, result)])

        self._queue.put(job)
        return await future

    async def close(self) -> None:
        """Store what still waits, then let go of the database."""
        self._queue.put(self._finish)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while self._open:
            entries = self._entries()
            if uploads := [entry for entry in entries if isinstance(entry, _Upload)]:
                self._commit(uploads)
            for entry in entries:
                if not isinstance(entry, _Upload):
                    entry()
        self._store.close()

    def _finish(self) -> None:
        self._open = False

    def _entries(self) -> list[_Upload | Job]:
        """What waits by now: the longer a commit takes, the more the next one has."""
        entries, rows = [self._queue.get()], 0
        while not self._queue.empty() and rows < MOST_ROWS:
            entry = self._queue.get()
            rows += len(entry.rows) if isinstance(entry, _Upload) else 0
            entries.append(entry)
        return entries

    def _commit(self, uploads: Sequence[_Upload]) -> None:
        try:
            found = self._store.insert([row for upload in uploads for row in upload.rows])
        except Exception as error:  # whatever it was: nobody may wait for ever
            self._failed(uploads, error)
            return
        self.failing = False
        self.counts["commits"] += 1
        self.counts.update(outcome.value for outcome in found)
        ends = list(accumulate(len(upload.rows) for upload in uploads))
        shares = [found[a:b] for a, b in pairwise([0, *ends])]
        futures = [upload.future for upload in uploads]
        self._loop.call_soon_threadsafe(_settle, list(zip(futures, shares, strict=True)))

    def _failed(self, uploads: Sequence[_Upload], error: Exception) -> None:
        self.counts["failures"] += 1
        if not self.failing:  # the kind alone: a database's own words may hold what was sent
            log.warning("Reports cannot be stored: %s.", type(error).__name__)
        self.failing = True
        refusal = StoreError("Nothing of this was stored.")
        self._loop.call_soon_threadsafe(_fail, [upload.future for upload in uploads], refusal)


def _settle(settled: Sequence[tuple["asyncio.Future[T]", T]]) -> None:
    for future, result in settled:
        if not future.done():  # a client that went away has cancelled it
            future.set_result(result)


def _fail(futures: Sequence["asyncio.Future[T]"], error: Exception) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)
