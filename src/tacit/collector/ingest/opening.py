"""Opening of a collector's components before it serves: store, clock, and token counts."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tacit.collector.ingest.clock import TrustedClock, tolerance
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.readiness import reached
from tacit.collector.limits.counts import Counts
from tacit.collector.limits.keys import EpochKeys
from tacit.collector.limits.limits import Limits
from tacit.collector.storage.addresses import is_postgres
from tacit.collector.storage.sqlite_counts import SqliteCounts
from tacit.collector.storage.store import ReportStore, StoreError
from tacit.errors import RequestError
from tacit.wire.tasks.task import Task


@dataclass(frozen=True)
class Opened:
    """A store, its trusted clock, and the quotas of tokens if tokens are required.

    `db`: the store's address, None where a function opened it.
    """

    store: ReportStore
    clock: TrustedClock
    limits: Limits | None = None
    db: str | None = None

    def close(self) -> None:
        """Close the databases."""
        self.store.close()
        if self.limits is not None:
            self.limits.close()


def opened(
    db: str | Callable[[], ReportStore],
    tasks: Sequence[Task],
    enrolment: Enrolment | None = None,
    *,
    keys: Path | None = None,
    confirmed: bool = False,
    patience: float = 0.0,
    wall: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Opened:
    """Open the store at an address (or by a function) and its components.

    `keys`: the key file of token counts; default: next to the SQLite file. `confirmed`: whether the
    machine's clock is right, whatever the stored time. `patience`: seconds to wait for a database
    server that does not respond yet. `wall`: Unix seconds. `monotonic`: seconds since any moment.
    Raises `RequestError` if a component cannot be opened, or they do not match.
    """
    store = reached(db, patience, monotonic) if isinstance(db, str) else db()
    try:
        clock = TrustedClock(wall, monotonic, tolerance(tasks))
        clock.start(store, confirmed)
        limits = None
        if enrolment is not None:
            assert isinstance(db, str), (
                "token counts are stored next to the store: pass its address"
            )
            limits = _limits(db, tasks, enrolment, keys, clock())
    except BaseException as error:
        with suppress(Exception):
            store.close()
        if isinstance(error, sqlite3.Error):
            raise RequestError(f"{db} is damaged ({error}); restore a backup.") from None
        raise
    return Opened(store, clock, limits, db if isinstance(db, str) else None)


def _limits(
    db: str, tasks: Sequence[Task], enrolment: Enrolment, keys: Path | None, now: float
) -> Limits:
    path = Path(db)
    if is_postgres(db):
        if keys is None:
            raise RequestError(
                "--token-keys is required, as in --token-keys tokens.keys: the keys for token "
                "counts must be stored outside the database."
            )
        from tacit.collector.storage.postgres_counts import PostgresCounts

        counts: Counts = PostgresCounts(db)
    else:
        counts = SqliteCounts(str(path.with_suffix(".tokens.db")))
    try:
        file = EpochKeys(keys or path.with_suffix(".tokens.keys"), now)
        limits = Limits(counts, file, tasks, enrolment.most, enrolment.people)
        limits.start(now)
    except (StoreError, OSError) as error:
        raise RequestError(f"Tokens cannot be counted: {error}.") from None
    except BaseException:
        counts.close()
        raise
    return limits
