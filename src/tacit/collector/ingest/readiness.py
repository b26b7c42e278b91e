"""Readiness: whether the store accepts reports now, as measured by a write.

A load balancer sends nothing to a collector that is not ready. A collector that inferred readiness
from the last upload would therefore never recover.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from tacit.collector.ingest import problems
from tacit.collector.ingest.problems import Problem
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.addresses import open_store
from tacit.collector.storage.store import ReportStore, UnreachableError

log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds after which a store that does not respond is reported as unavailable."""
EVERY = 1.0
"""Seconds between attempts to recover while the store fails."""
PAUSE = 0.5
"""Seconds between attempts to open a store at startup."""


class Readiness:
    """Probes the store of a writer.

    `patience`: seconds for a response. Simultaneous requests share one probe.
    """

    def __init__(self, writer: Writer, patience: float = PATIENCE) -> None:
        self._writer, self._patience = writer, patience
        self._probe: asyncio.Task[str | None] | None = None

    async def problem(self) -> Problem | None:
        """Return the problem of a collector that cannot store reports, with the reason.

        None if a write to the store has just succeeded.
        """
        reason = await self._reason()
        if reason is None:
            return None
        detail = f"Reports cannot be stored at the moment: {reason}."
        return replace(problems.UNAVAILABLE, detail=detail)

    async def watch(self, every: float = EVERY) -> None:
        """Probe periodically while the store fails, to recover without requests."""
        while True:
            await asyncio.sleep(every)
            if self._writer.failing:
                await self._reason()

    async def _reason(self) -> str | None:
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._writer.probe())
        try:
            return await asyncio.wait_for(asyncio.shield(self._probe), self._patience)
        except TimeoutError:
            return f"the store has not responded for {self._patience:g} seconds"


def reached(db: str, patience: float, monotonic: Callable[[], float]) -> ReportStore:
    """Open a store, as the only collector on an SQLite file.

    `patience`: seconds for which a database server that does not respond yet is tried again.
    `monotonic`: seconds since any moment. Raises `RequestError` if the store cannot be opened.
    """
    begun, is_noted = monotonic(), False
    while True:
        try:
            return open_store(db, sole=True)
        except UnreachableError as error:
            if monotonic() - begun >= patience:
                raise
            if not is_noted:
                log.warning(
                    "%s Retrying for %g seconds.",
                    error,
                    patience,
                    extra={"event": "store-unreachable"},
                )
                is_noted = True
        time.sleep(PAUSE)
