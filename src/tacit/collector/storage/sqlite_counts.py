"""Counts in a separate SQLite file, excluded from backups of the reports."""

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

from tacit.collector.limits.counts import Running, TokenCounts
from tacit.collector.storage.sqlite import opened
from tacit.collector.storage.store import StoreError
from tacit.errors import RequestError

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS running (
    task BLOB PRIMARY KEY,
    epoch INTEGER NOT NULL,
    mark BLOB,
    ends INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tokens (
    task BLOB NOT NULL,
    name BLOB NOT NULL,
    reports INTEGER NOT NULL,
    people INTEGER NOT NULL,
    PRIMARY KEY (task, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (
    task BLOB NOT NULL,
    name BLOB NOT NULL,
    PRIMARY KEY (task, name)
) WITHOUT ROWID;
"""
AT_ONCE = 1000
"""Names, or rows, per statement."""


class SqliteCounts:
    """Counts in SQLite. Rows are ordered by name, effectively at random, not by time of arrival.

    Raises `RequestError` if the file cannot be opened or is another file.
    """

    def __init__(self, path: str) -> None:
        try:
            self._database = opened(path)
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError(
                    f"its version is {version}; this collector reads version {VERSION}"
                )
            self._database.executescript(SCHEMA)
            self._database.execute(f"PRAGMA user_version={VERSION}")
        except (OSError, sqlite3.Error) as error:
            raise RequestError(f"{path} cannot store the token counts: {error}.") from None

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Generator[None]:
        """Implement `Counts.transaction`."""
        try:
            self._database.execute("BEGIN IMMEDIATE")  # which locks out other writers
            yield
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(str(error)) from None
        finally:
            if self._database.in_transaction:
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")

    def running(self) -> dict[bytes, Running]:
        """Implement `Counts.running`."""
        rows = self._database.execute("SELECT task, epoch, mark, ends FROM running")
        return {task: Running(*rest) for task, *rest in rows}

    def enter(self, task: bytes, running: Running) -> None:
        """Implement `Counts.enter`."""
        for table in ("tokens", "people"):
            self._database.execute(f"DELETE FROM {table} WHERE task = ?", (task,))
        self.mark(task, running)

    def mark(self, task: bytes, running: Running) -> None:
        """Implement `Counts.mark`."""
        self._database.execute("REPLACE INTO running VALUES (?, ?, ?, ?)", (task, *running))

    def tallies(self, task: bytes, names: Iterable[bytes]) -> dict[bytes, TokenCounts]:
        """Implement `Counts.tallies`."""
        query = "SELECT name, reports, people FROM tokens WHERE task = ? AND name IN"
        return {name: TokenCounts(*rest) for name, *rest in self._among(query, task, names)}

    def known(self, task: bytes, people: Iterable[bytes]) -> set[bytes]:
        """Implement `Counts.known`."""
        query = "SELECT name FROM people WHERE task = ? AND name IN"
        return {name for (name,) in self._among(query, task, people)}

    def keep(
        self, task: bytes, tallies: Mapping[bytes, TokenCounts], people: Iterable[bytes]
    ) -> None:
        """Implement `Counts.keep`."""
        self._put("tokens", [(task, name, *tally) for name, tally in tallies.items()])
        self._put("people", [(task, name) for name in people])

    def scrub(self) -> None:
        """Implement `Counts.scrub`."""
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Implement `Counts.close`."""
        self._database.close()

    def _put(self, table: str, rows: Sequence[tuple[bytes | int, ...]]) -> None:
        """Write rows in few statements: each one has to reacquire Python's lock."""
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            holes = f"({','.join('?' * len(some[0]))})"
            self._database.execute(
                f"REPLACE INTO {table} VALUES {','.join([holes] * len(some))}",
                list(chain.from_iterable(some)),
            )

    def _among(self, query: str, task: bytes, names: Iterable[bytes]) -> Iterator[Any]:
        every = list(names)
        for start in range(0, len(every), AT_ONCE):
            some = every[start : start + AT_ONCE]
            holes = ",".join("?" * len(some))
            rows = self._database.execute(f"{query} ({holes})", (task, *some))
            yield from rows
