"""Reports in one SQLite file: write-ahead log, synchronous=FULL, one writing connection."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any

from tacit.collector.storage.store import (
    Held,
    ReportOutcome,
    StoredReport,
    StoreError,
    outcomes,
)
from tacit.errors import RequestError
from tacit.sqlite_checks import check_tables, check_types
from tacit.wire.strict import ENDS

VERSION = 2
ADDED = """
CREATE TABLE erasures (
    task INTEGER NOT NULL,
    person BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    PRIMARY KEY (task, person)
) WITHOUT ROWID;
CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), seconds INTEGER NOT NULL);
"""
SCHEMA = """
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    document BLOB NOT NULL UNIQUE,
    closed INTEGER NOT NULL DEFAULT -1,
    continues INTEGER
);
CREATE TABLE reports (
    id BLOB PRIMARY KEY,
    task INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    mech INTEGER NOT NULL,
    person BLOB NOT NULL,
    cells BLOB NOT NULL
) WITHOUT ROWID;
"""
UPGRADES = {0: SCHEMA + ADDED, 1: "ALTER TABLE tasks ADD COLUMN continues INTEGER;" + ADDED}
"""Upgrade from each version to the current one. `continues`: number of an earlier task of the same
question, under which reports of this task are stored."""
LOG_PAGES, CACHE_KIB = 8000, 65_536
"""Checkpoint after a log of 32 MiB: ids are random, so short logs write each page many times."""
LEAST_FREE = 1 << 24
"""Bytes that must be free on the disk: a commit of 2,048 reports writes as many pages of 4 KiB."""
MOST_ROWS = 4096
"""Rows per statement; SQLite allows 32,766 values in one."""
HELD = "coalesce(continues, number), document, closed"
TASKS = f"SELECT {HELD} FROM tasks ORDER BY number DESC"
ERASED = """
(SELECT 1 FROM erasures
WHERE erasures.task = reports.task AND erasures.person = reports.person)
"""


class SqliteStore:
    """The writer. Reports are ordered by id: the file does not reveal their order of arrival.

    `sole`: whether to refuse a file that another sole writer has open, in this process or another.
    Raises `RequestError` if the file cannot be opened or is another file.
    """

    def __init__(self, path: str, *, sole: bool = False) -> None:
        self._path = path
        self._lock = -1
        try:
            if sole:
                self._lock = _locked(path)
            self._database = opened(path)
            self._upgrade()
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            self._unlock()
            raise RequestError(f"{path} cannot store reports: {reason(error)}.") from None
        except BaseException:
            self._unlock()
            raise

    def hold(self, document: bytes, same: Sequence[bytes] = ()) -> Held:
        """Implement `ReportStore.hold`."""
        self._database.execute(
            "INSERT OR IGNORE INTO tasks (document, closed, continues) "
            "SELECT ?, coalesce(max(closed), -1), min(coalesce(continues, number)) "
            f"FROM tasks WHERE document IN ({','.join('?' * len(same))})",
            (document, *same),
        )
        query = f"SELECT {HELD} FROM tasks WHERE document = ?"
        return Held(*self._database.execute(query, (document,)).fetchone())

    def tasks(self) -> list[Held]:
        """Implement `ReportStore.tasks`."""
        return [Held(*row) for row in self._database.execute(TASKS)]

    def insert(self, rows: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Implement `ReportStore.insert`."""
        try:
            if len(rows) > MOST_ROWS:
                return self._insert_unknown(rows)
            try:
                # The usual case: all are new. One statement is a transaction by default, and
                # reacquires Python's lock from the server only once.
                self._insert(rows)
            except sqlite3.IntegrityError:
                return self._insert_unknown(rows)
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise StoreError(reason(error)) from None
        return [ReportOutcome.STORED] * len(rows)

    def shut(self, task: int, epoch: int) -> None:
        """Implement `ReportStore.shut`."""
        closed = "UPDATE tasks SET closed = max(closed, ?) WHERE coalesce(continues, number) = ?"
        self._database.execute(closed, (epoch, task))

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        """Implement `ReportStore.forget`."""
        # Between X and X || 2^128: every id of 16 bytes that begins with the byte.
        low, high = bytes([first_byte]), bytes([first_byte]) + b"\xff" * 16
        return self._database.execute(
            "DELETE FROM reports WHERE id BETWEEN ? AND ? AND task = ? "
            f"AND (epoch <= ? OR EXISTS {ERASED})",
            (low, high, task, epoch),
        ).rowcount

    def erase(self, task: int, person: bytes, epoch: int) -> None:
        """Implement `ReportStore.erase`."""
        self._database.execute(
            "INSERT INTO erasures VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET epoch = max(epoch, excluded.epoch)",
            (task, person, epoch),
        )

    def erasures(self, task: int) -> int:
        """Implement `ReportStore.erasures`."""
        return self._one("SELECT count(*) FROM erasures WHERE task = ?", task)

    def settle(self, task: int, epoch: int) -> int:
        """Implement `ReportStore.settle`."""
        gone = "DELETE FROM erasures WHERE task = ? AND epoch <= ?"
        return self._database.execute(gone, (task, epoch)).rowcount

    def clock(self) -> int | None:
        """Implement `ReportStore.clock`."""
        return self._one("SELECT max(seconds) FROM clock")

    def keep_clock(self, now: int, limit: int) -> int:
        """Implement `ReportStore.keep_clock`."""
        self._database.execute(
            "INSERT INTO clock VALUES (1, ?) ON CONFLICT DO UPDATE SET seconds = excluded.seconds "
            "WHERE excluded.seconds > seconds AND excluded.seconds <= seconds + ?",
            (now, limit),
        )
        return self._one("SELECT seconds FROM clock")

    def set_clock(self, now: int) -> None:
        """Implement `ReportStore.set_clock`."""
        self._database.execute("INSERT OR REPLACE INTO clock VALUES (1, ?)", (now,))

    def newest(self) -> list[tuple[bytes, int]]:
        """Implement `ReportStore.newest`."""
        return self._database.execute(
            "SELECT document, newest FROM tasks JOIN "
            "(SELECT task, max(CAST(epoch AS INTEGER)) AS newest FROM reports GROUP BY task) "
            "ON task = number"
        ).fetchall()

    def probe(self) -> None:
        """Implement `ReportStore.probe`."""
        # A commit to the log may succeed on a full disk, where it replaces older pages.
        if (free := _free(self._path)) < LEAST_FREE:
            raise StoreError(f"the disk is full ({free >> 20} MiB free)")
        try:
            with self._database:  # commits or rolls back
                self._database.execute("BEGIN IMMEDIATE")
                # SQLite does not write a page that an update leaves equal: change it, and back.
                self._database.execute("UPDATE clock SET seconds = seconds + 1")
                self._database.execute("UPDATE clock SET seconds = seconds - 1")
        except sqlite3.Error as error:
            raise StoreError(reason(error)) from None

    def close(self) -> None:
        """Implement `ReportStore.close`."""
        self._database.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _upgrade(self) -> None:
        version = self._one("PRAGMA user_version")
        if version != VERSION and version not in UPGRADES:
            raise sqlite3.DatabaseError(
                f"its version is {version}; this collector reads version {VERSION}"
            )
        for setting in (f"wal_autocheckpoint={LOG_PAGES}", f"cache_size=-{CACHE_KIB}"):
            self._database.execute(f"PRAGMA {setting}")
        if version != VERSION:
            self._database.executescript(
                f"BEGIN IMMEDIATE; {UPGRADES[version]} PRAGMA user_version={VERSION}; COMMIT;"
            )

        check_tables(self._database, SCHEMA + ADDED)
        check_types(self._database, ("tasks", "erasures", "clock"))
        if self._one(f"SELECT count(*) FROM clock WHERE seconds NOT BETWEEN 0 AND {ENDS}"):
            raise sqlite3.DatabaseError("its clock is out of range; restore a backup")

    def _one(self, statement: str, *values: Any) -> Any:
        return self._database.execute(statement, values).fetchone()[0]

    def _insert_unknown(self, rows: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Insert rows of which some ids exist or are repeated. This is the only writer."""
        self._database.execute("BEGIN IMMEDIATE")
        before = self._stored([row.id for row in rows])
        for start in range(0, len(rows), MOST_ROWS):
            self._insert(rows[start : start + MOST_ROWS], "OR IGNORE")
        self._database.execute("COMMIT")
        return outcomes(rows, before)

    def _insert(self, rows: Sequence[StoredReport], known: str = "") -> None:
        self._database.execute(_inserting(len(rows), known), list(chain.from_iterable(rows)))

    def _stored(self, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        stored: dict[bytes, StoredReport] = {}
        for start in range(0, len(ids), 1000):
            some = ids[start : start + 1000]
            query = f"SELECT * FROM reports WHERE id IN ({','.join('?' * len(some))})"
            stored |= {row[0]: StoredReport(*row) for row in self._database.execute(query, some)}
        return stored


def opened(path: str) -> sqlite3.Connection:
    """Return a connection to a file with private permissions, as are its logs.

    An existing file is closed to others; permissions of its group are unchanged. Raises `OSError`
    and `sqlite3.Error`.
    """
    if path != ":memory:":
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        for file in (path, f"{path}-wal", f"{path}-shm"):
            with suppress(FileNotFoundError):
                if (mode := os.stat(file).st_mode) & 0o007:
                    os.chmod(file, mode & 0o770)
    database = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    # FULL: a commit is on disk when it returns, not merely safe from a crash of the process.
    # Deleted data is overwritten, not merely unlinked.
    for setting in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        database.execute(f"PRAGMA {setting}")
    return database


def reason(error: Exception) -> str:
    """Return why SQLite failed, without names that a damaged file may contain."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error).split("\n")[0]


def _locked(path: str) -> int:
    """Lock a file's companion until it is closed or the process ends; returns its descriptor.

    Not the file itself: SQLite would lose its own locks when the descriptor is closed. Raises
    `RequestError` if another process has the lock, and `OSError`.
    """
    import fcntl  # only where collectors run: a store is read on any system

    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise RequestError(
            f"Another collector is running on {path}. Stop it first, or use PostgreSQL, which "
            "several collectors may share."
        ) from None
    return lock


def _free(path: str) -> int:
    """Return the bytes that are free on the disk of a file."""
    if path == ":memory:":
        return LEAST_FREE
    space = os.statvfs(path)
    return space.f_bavail * space.f_frsize


@lru_cache(maxsize=256)
def _inserting(rows: int, known: str) -> str:
    return f"INSERT {known} INTO reports VALUES {','.join(['(?,?,?,?,?,?)'] * rows)}"
