"""The queue of uploads: one thread commits what is pending, and resolves its futures."""

import asyncio
import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from tacit.collector.ingest.commit import Batch, Cost, Result, commit
from tacit.collector.limits.limits import Charge, Excess, Limits, Reservation
from tacit.collector.storage.store import (
    ReportOutcome,
    ReportStore,
    StoredReport,
    StoreError,
)

log = logging.getLogger(__name__)

MOST_ROWS = 2048
"""Rows at which a transaction is full; its last upload may exceed it."""
WORTH_A_COMMIT = 24
"""Rows that are committed without waiting for more: a commit costs as much as storing these."""

T = TypeVar("T")
Job = Callable[[], None]


class ExcessError(Exception):
    """The upload exceeds the token's quota; nothing of it was stored."""

    def __init__(self, excess: Excess) -> None:
        super().__init__("over a token's limit")
        self.spent = excess.spent


class _Batch(NamedTuple):
    uploads: list[Batch]
    rows: int


class Writer:
    """The thread that owns the database, and the only user of `store` and `limits`.

    `committed`: called on that thread with the seconds that each commit took.
    `counts`: reports by outcome, commits and failures, since the start. `failing`: whether the last
    transaction failed. `uploads`, `waiting`: pending uploads, and reports in them.
    """

    def __init__(
        self,
        store: ReportStore,
        limits: Limits | None = None,
        committed: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._store = store
        self._limits = limits
        self._committed = committed
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Batch | Job] = queue.SimpleQueue()
        self._together: list[Batch] = []
        self._rows = 0
        self._open = True
        self.counts: Counter[str] = Counter()
        self.failing = False
        self.uploads = self.waiting = 0
        self._thread = threading.Thread(target=self._run, name="writer")
        self._thread.start()

    def put(
        self, rows: Sequence[StoredReport], cost: Cost | None = None
    ) -> "asyncio.Future[list[ReportOutcome]]":
        """Store rows; the future is done when they are durable.

        Fails with `StoreError` if they are not stored, and with `ExcessError` if their token's
        quota is exhausted.
        """
        upload = Batch(rows, self._loop.create_future(), cost)
        self.uploads += 1
        self.waiting += len(rows)
        if not self._together:
            self._loop.call_soon(self._gather, 0)
        self._together.append(upload)
        self._rows += len(rows)
        if self._rows >= WORTH_A_COMMIT:
            self._hand_over()
        return upload.future

    async def run(self, work: Callable[[ReportStore], T]) -> T:
        """Run other work with the store, on its thread and between two transactions."""
        future: asyncio.Future[T] = self._loop.create_future()

        def job() -> None:
            try:
                result = work(self._store)
            except Exception as error:
                self._loop.call_soon_threadsafe(_report, future, future.set_exception, error)
            else:
                self._loop.call_soon_threadsafe(_report, future, future.set_result, result)

        self._ask(job)
        return await future

    async def reserve(self, charge: Charge) -> Reservation:
        """Charge a token before the content of an upload is checked.

        Raises `StoreError` and `ExcessError`, as `put` does.
        """
        limits = self._limits
        assert limits is not None, "nobody counts"
        try:
            (verdict,) = await self.run(lambda store: limits.reserve([charge]))
        except Exception as error:
            self._note(error)
            raise StoreError("Nothing was reserved.") from None
        if isinstance(verdict, Excess):
            raise ExcessError(verdict)
        return verdict

    async def erase(self, task: int, person: bytes, epoch: int) -> None:
        """Exclude a person's reports; durable on return. Raises `StoreError` otherwise."""
        try:
            await self.run(lambda store: store.erase(task, person, epoch))
        except Exception as error:
            self._note(error)
            raise StoreError("Nothing was erased.") from None

    async def probe(self) -> str | None:
        """Return why reports cannot be stored at the moment; None if they can.

        It writes to the store, and reconnects if necessary.
        """
        try:
            await self.run(self._probed)
        except Exception as error:
            self._note(error)
            return reason(error)
        self._recovered()
        return None

    def _probed(self, store: ReportStore) -> None:
        store.probe()
        if self._limits is not None:
            self._limits.probe()

    async def close(self) -> None:
        """Store pending uploads, then close the database."""
        self._ask(self._finish)
        await asyncio.to_thread(self._thread.join)

    def _ask(self, job: Job) -> None:
        self._hand_over()  # earlier uploads precede it
        self._queue.put(job)

    def _gather(self, before: int) -> None:
        """Combine uploads of the same moment in one commit, as long as the loop finds more."""
        if self._rows > before:
            self._loop.call_soon(self._gather, self._rows)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._together:
            self._queue.put(_Batch(self._together, self._rows))
            self._together, self._rows = [], 0

    def _run(self) -> None:
        while self._open:
            uploads, jobs = self._next()
            if uploads:
                self._commit(uploads)
            for job in jobs:
                job()
        self._store.close()
        if self._limits is not None:
            self._limits.close()

    def _finish(self) -> None:
        self._open = False

    def _next(self) -> tuple[list[Batch], list[Job]]:
        """Return all pending work: the longer a commit takes, the larger is the next one."""
        uploads: list[Batch] = []
        jobs: list[Job] = []
        rows = 0
        while not (uploads or jobs) or (rows < MOST_ROWS and not self._queue.empty()):
            entry = self._queue.get()
            if isinstance(entry, _Batch):
                uploads += entry.uploads
                rows += entry.rows
            else:
                jobs.append(entry)
        return uploads, jobs

    def _commit(self, uploads: Sequence[Batch]) -> None:
        begun = perf_counter()
        try:
            results = commit(self._store, self._limits, uploads)
        except Exception as error:  # any error must complete the futures
            self._failed(uploads, error)
            return
        self._committed(perf_counter() - begun)
        self._recovered()
        self.counts["commits"] += 1
        for result in results:
            if not isinstance(result, Excess):
                self.counts.update(result)
        self._loop.call_soon_threadsafe(self._settle, uploads, results)

    def _failed(self, uploads: Sequence[Batch], error: Exception) -> None:
        self.counts["failures"] += 1
        self._note(error)
        refusal = StoreError("None of these reports were stored.")
        self._loop.call_soon_threadsafe(self._fail, uploads, refusal)

    def _note(self, error: Exception) -> None:
        if not self.failing:
            cause = reason(error)
            log.warning(
                "Reports cannot be stored: %s.",
                cause,
                extra={"event": "store-failed", "cause": cause},
            )
        self.failing = True

    def _recovered(self) -> None:
        if self.failing:
            log.warning("Reports can be stored again.", extra={"event": "store-recovered"})
        self.failing = False

    def _settle(self, uploads: Sequence[Batch], results: Sequence[Result]) -> None:
        self._leave(uploads)
        for upload, result in zip(uploads, results, strict=True):
            if upload.future.done():  # cancelled by a client that disconnected
                continue
            if isinstance(result, Excess):
                upload.future.set_exception(ExcessError(result))
            else:
                upload.future.set_result(result)

    def _fail(self, uploads: Sequence[Batch], error: Exception) -> None:
        self._leave(uploads)
        for upload in uploads:
            if not upload.future.done():
                upload.future.set_exception(error)

    def _leave(self, uploads: Sequence[Batch]) -> None:
        self.uploads -= len(uploads)
        self.waiting -= sum(len(upload.rows) for upload in uploads)


def reason(error: Exception) -> str:
    """Return why a store failed; the type only where the message may contain the input."""
    return str(error) if isinstance(error, StoreError) else type(error).__name__


def _report(future: "asyncio.Future[Any]", how: Callable[[Any], None], what: Any) -> None:
    if not future.done():  # the waiting task was cancelled
        how(what)
