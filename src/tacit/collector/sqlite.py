"""Reports in one SQLite file: write-ahead log, synchronous=FULL, one connection that writes."""

import sqlite3
from collections.abc import Iterator, Sequence
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
);
"""
LOG_PAGES, CACHE_KIB = 8000, 65_536
"""A log of 32 MiB before it is folded in: ids are random, so short logs write each page often."""
CHUNKS = (256, 64, 16, 4, 1)
"""Rows of one statement. Python lets its lock go around a statement, not around a row: with many
rows in one, the database works while the server reads."""


class SqliteStore:
    """The writer. Reports are kept by id: the file does not say in which order they came.

    Raises `RequestError` where the file cannot be opened or is something else.
    """

    def __init__(self, path: str) -> None:
        try:
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._prepare()
        except sqlite3.Error as error:
            raise RequestError(f"{path} cannot hold reports: {error}.") from None

    def hold(self, document: bytes) -> Held:
        self._database.execute("INSERT OR IGNORE INTO tasks (document) VALUES (?)", (document,))
        asked = "SELECT number, document, closed FROM tasks WHERE document = ?"
        return Held(*self._database.execute(asked, (document,)).fetchone())

    def insert(self, rows: Sequence[Row]) -> list[Outcome]:
        try:
            if self._insert_all(rows, expected=len(rows)):
                return [Outcome.STORED] * len(rows)
            # Some ids are known. Nobody else writes, so what is there now is what was there.
            before = self._stored([row.id for row in rows])
            self._insert_all(rows)
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise StoreError(str(error)) from None
        return outcomes(rows, before)

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

    def _insert_all(self, rows: Sequence[Row], expected: int | None = None) -> bool:
        """Insert and commit; not if another number of rows than `expected` would be new."""
        self._database.execute("BEGIN IMMEDIATE")
        new = sum(self._insert(chunk) for chunk in _chunks(rows))
        kept = expected is None or new == expected
        self._database.execute("COMMIT" if kept else "ROLLBACK")
        return kept

    def _insert(self, rows: Sequence[Row]) -> int:
        places = ",".join(["(?,?,?,?,?,?)"] * len(rows))
        flat = [value for row in rows for value in row]
        statement = f"INSERT OR IGNORE INTO reports VALUES {places}"
        return self._database.execute(statement, flat).rowcount

    def _stored(self, ids: Sequence[bytes]) -> dict[bytes, Row]:
        found: dict[bytes, Row] = {}
        for start in range(0, len(ids), 1000):
            some = ids[start : start + 1000]
            asked = f"SELECT * FROM reports WHERE id IN ({','.join('?' * len(some))})"
            found |= {row[0]: Row(*row) for row in self._database.execute(asked, some)}
        return found


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


def _chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    start = 0
    for size in CHUNKS:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size
