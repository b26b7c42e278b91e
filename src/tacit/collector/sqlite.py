"""Reports in one SQLite file: write-ahead log, synchronous=FULL, one connection that writes."""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from tacit.collector.store import READ_AT_ONCE, Held, Outcome, Row, StoreError, outcomes
from tacit.errors import RequestError

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY,
    document BLOB NOT NULL UNIQUE,
    closed INTEGER NOT NULL DEFAULT -1
);
CREATE TABLE IF NOT EXISTS reports (
    id BLOB PRIMARY KEY,
    task INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    mech INTEGER NOT NULL,
    person BLOB NOT NULL,
    cells BLOB NOT NULL
) WITHOUT ROWID;
"""
LOG_PAGES, CACHE_KIB = 8000, 65_536
"""A log of 32 MiB before it is folded in: ids are random, so short logs write each page often."""
MOST_ROWS = 4096
"""Rows of one statement; SQLite takes 32,766 values in one."""


class SqliteStore:
    """The writer. Reports are kept by id: the file does not say in which order they came.

    Raises `RequestError` where the file cannot be opened or is something else.
    """

    def __init__(self, path: str) -> None:
        try:
            self._database = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._prepare()
        except sqlite3.Error as error:
            raise RequestError(f"{path} cannot hold reports: {error}.") from None

    def hold(self, document: bytes) -> Held:
        self._database.execute("INSERT OR IGNORE INTO tasks (document) VALUES (?)", (document,))
        asked = "SELECT number, document, closed FROM tasks WHERE document = ?"
        return Held(*self._database.execute(asked, (document,)).fetchone())

    def insert(self, rows: Sequence[Row]) -> list[Outcome]:
        try:
            if len(rows) > MOST_ROWS:
                return self._insert_unknown(rows)
            try:
                # Nearly always all are new. One statement is a transaction of its own, and the only
                # moment at which Python's lock has to be won back from the server.
                self._insert(rows)
            except sqlite3.IntegrityError:
                return self._insert_unknown(rows)
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise StoreError(str(error)) from None
        return [Outcome.STORED] * len(rows)

    def shut(self, task: int, epoch: int) -> None:
        closed = "UPDATE tasks SET closed = max(closed, ?) WHERE number = ?"
        self._database.execute(closed, (epoch, task))

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        # Between X and X || 2^128: every id of 16 bytes that begins with the byte.
        low, high = bytes([first_byte]), bytes([first_byte]) + b"\xff" * 16
        return self._database.execute(
            "DELETE FROM reports WHERE id BETWEEN ? AND ? AND task = ? AND epoch <= ?",
            (low, high, task, epoch),
        ).rowcount

    def close(self) -> None:
        self._database.close()

    def _prepare(self) -> None:
        version = self._one("PRAGMA user_version")
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"its version is {version}, this reads {VERSION}")
        # FULL: a commit is on disk when it returns, not only safe from a dying process. Deleted
        # reports are overwritten, not merely unlinked.
        for setting in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "secure_delete=ON",
            f"wal_autocheckpoint={LOG_PAGES}",
            f"cache_size=-{CACHE_KIB}",
        ):
            self._database.execute(f"PRAGMA {setting}")
        self._database.executescript(SCHEMA)
        self._database.execute(f"PRAGMA user_version={VERSION}")

    def _one(self, statement: str) -> Any:
        return self._database.execute(statement).fetchone()[0]

    def _insert_unknown(self, rows: Sequence[Row]) -> list[Outcome]:
        """Some ids are known, or come twice. Nobody else writes: what is there was there before."""
        self._database.execute("BEGIN IMMEDIATE")
        before = self._stored([row.id for row in rows])
        for start in range(0, len(rows), MOST_ROWS):
            self._insert(rows[start : start + MOST_ROWS], "OR IGNORE")
        self._database.execute("COMMIT")
        return outcomes(rows, before)

    def _insert(self, rows: Sequence[Row], known: str = "") -> None:
        self._database.execute(_inserting(len(rows), known), list(chain.from_iterable(rows)))

    def _stored(self, ids: Sequence[bytes]) -> dict[bytes, Row]:
        found: dict[bytes, Row] = {}
        for start in range(0, len(ids), 1000):
            some = ids[start : start + 1000]
            asked = f"SELECT * FROM reports WHERE id IN ({','.join('?' * len(some))})"
            found |= {row[0]: Row(*row) for row in self._database.execute(asked, some)}
        return found


@lru_cache(maxsize=256)
def _inserting(rows: int, known: str) -> str:
    return f"INSERT {known} INTO reports VALUES {','.join(['(?,?,?,?,?,?)'] * rows)}"


class SqliteReader:
    """Reads a snapshot; a collector may go on writing. Raises `RequestError` for no such file."""

    def __init__(self, path: str) -> None:
        if not Path(path).is_file():
            raise RequestError(f"{path} is no store of reports; `tacit collect --db` makes one.")
        self._path = path
        self._database = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)

    def tasks(self) -> list[Held]:
        try:
            asked = "SELECT number, document, closed FROM tasks ORDER BY number DESC"
            return [Held(*row) for row in self._database.execute(asked)]
        except sqlite3.Error as error:
            raise RequestError(f"{self._path} is no store of reports: {error}.") from None

    def scan(self, task: int) -> Iterator[list[Row]]:
        found = self._database.execute("SELECT * FROM reports WHERE task = ?", (task,))
        while rows := found.fetchmany(READ_AT_ONCE):
            yield [Row(*row) for row in rows]

    def close(self) -> None:
        self._database.close()
