"""Group commit: whatever waits is stored in one transaction, and acknowledged only afterwards."""

import asyncio
import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from tacit.collector.limits.limits import Charge, Excess, Limits, Reservation
from tacit.collector.storage.commit import Batch, Cost, Result, commit
from tacit.collector.storage.store import ReportOutcome, ReportStore, StoredReport, StoreError

log = logging.getLogger(__name__)

MOST_ROWS = 2048
"""Rows after which a transaction takes no more; the last upload that it took may go beyond."""
WORTH_A_COMMIT = 24
"""Rows that are handed over without looking for more: a commit costs as much as so many."""

T = TypeVar("T")
Job = Callable[[], None]


class ExcessError(Exception):
    """The token may not send so much; nothing of the upload was stored."""

    def __init__(self, excess: Excess) -> None:
        super().__init__("over a token's limit")
        self.spent = excess.spent


class _Batch(NamedTuple):
    uploads: list[Batch]
    rows: int


class Writer:
    """The one thread that touches the database, and the only user of `store` and `limits`.

    `counts`: reports by outcome, commits and failures, since the start. `failing`: whether the last
    transaction failed. `uploads`, `waiting`: uploads, and reports in them, that are not stored yet.
    """

    def __init__(self, store: ReportStore, limits: Limits | None = None) -> None:
        self._store = store
        self._limits = limits
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
        """Store rows; done when they are durable. Fails with `StoreError` when they are not, and
        with `ExcessError` where their token's limit is reached."""
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
        """Do something else with the store, on its thread and between two transactions."""
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
        """Charge a token before it is known what an upload holds. Raises as `put` does.

        These are `StoreError` and `ExcessError`.
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
        """Leave a person's reports out; durable on return. Raises `StoreError` when it is not."""
        try:
            await self.run(lambda store: store.erase(task, person, epoch))
        except Exception as error:
            self._note(error)
            raise StoreError("Nothing was erased.") from None

    async def close(self) -> None:
        """Store what still waits, then let go of the database."""
        self._ask(self._finish)
        await asyncio.to_thread(self._thread.join)

    def _ask(self, job: Job) -> None:
        self._hand_over()  # what came before it is done before it
        self._queue.put(job)

    def _gather(self, before: int) -> None:
        """Those that came at the same moment go into one commit, not the first of them alone: the
        loop looks for more as long as it finds some."""
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
        """What waits by now: the longer a commit takes, the more the next one has."""
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
        try:
            results = commit(self._store, self._limits, uploads)
        except Exception as error:  # whatever it was: nobody may wait for ever
            self._failed(uploads, error)
            return
        self.failing = False
        self.counts["commits"] += 1
        for result in results:
            if not isinstance(result, Excess):
                self.counts.update(result)
        self._loop.call_soon_threadsafe(self._settle, uploads, results)

    def _failed(self, uploads: Sequence[Batch], error: Exception) -> None:
        self._note(error)
        refusal = StoreError("None of these reports were stored.")
        self._loop.call_soon_threadsafe(self._fail, uploads, refusal)

    def _note(self, error: Exception) -> None:
        self.counts["failures"] += 1
        if not self.failing:  # the kind alone: a database's own words may hold what was sent
            log.warning("Reports cannot be stored: %s.", type(error).__name__)
        self.failing = True

    def _settle(self, uploads: Sequence[Batch], results: Sequence[Result]) -> None:
        self._leave(uploads)
        for upload, result in zip(uploads, results, strict=True):
            if upload.future.done():  # a client that went away has cancelled it
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


def _report(future: "asyncio.Future[Any]", how: Callable[[Any], None], what: Any) -> None:
    if not future.done():  # whoever waited was told to stop
        how(what)
