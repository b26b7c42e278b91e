"""Reader of a SQLite file, in one snapshot."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tacit.collector.storage.slot_codec import RATED
from tacit.collector.storage.sqlite import ERASED, TASKS, VERSION
from tacit.collector.storage.store import (
    READ_AT_ONCE,
    Held,
    StoredReport,
    Tombstone,
)
from tacit.errors import RequestError
from tacit.sqlite_checks import check_types

TABLE = """
SELECT max(id), group_concat(row, '') FROM (
    SELECT id, hex(person) || hex(cells) || printf('%04X%016X', mech, epoch) AS row
    FROM reports WHERE id > ? AND task = ? {} ORDER BY id LIMIT ?
)
"""
"""Next rows after an id, and the last id of them; in hexadecimal, in the binary format of
`slot_codec.STORED`."""
SOUND = """
typeof(id) = 'blob' AND typeof(epoch) = 'integer' AND epoch >= 0
AND typeof(mech) = 'integer' AND mech BETWEEN 0 AND 32767
AND typeof(person) = 'blob' AND length(person) = 16 AND typeof(cells) = 'blob'
"""
"""Condition on every row of reports."""
UNKNOWN = """
SELECT count(*), hex(min(id)) FROM reports
WHERE task IS NULL OR task NOT IN (SELECT {} FROM tasks)
"""
"""Reports that no task would read. `{}`: the number under which a task's reports are stored."""
ROWS_AT_ONCE = 1 << 16
"""4 MiB of such rows."""


class SqliteReader:
    """Reads a snapshot, while a collector may write.

    Raises `RequestError` if the file does not exist.

    A store of an older version is read without upgrading it.
    """

    def __init__(self, path: str) -> None:
        if not Path(path).is_file():
            raise RequestError(
                f"{path} is not a store of reports; create one with `tacit collect --db`."
            )
        self._path = path
        self._database = self._connect()

    def tasks(self) -> list[Held]:
        """Implement `Reader.tasks`. Raises `RequestError` if the store does not exist."""
        with self._reading():
            check_types(self._database, ("tasks",))
            before = "SELECT number, document, closed FROM tasks ORDER BY number DESC"
            rows = self._database.execute(TASKS if self._upgraded() else before)
            return [Held(*row) for row in rows]

    def scan(self, task: int, at_once: int = READ_AT_ONCE) -> Iterator[list[StoredReport]]:
        """Implement `Reader.scan`. `at_once`: most reports of a batch."""
        with self._reading():
            self._check_rows(task, "length(cells) > 0")
            query = f"SELECT {', '.join(StoredReport._fields)} FROM reports WHERE task = ?1"
            if self._upgraded():
                query += f" AND NOT EXISTS {ERASED}"
            cursor = self._database.execute(query, (task,))
            while rows := cursor.fetchmany(at_once):
                yield [StoredReport(*row) for row in rows]

    def tables(self, task: int) -> Iterator[bytes]:
        """Implement `TableReader.tables`, in the order of ids.

        It uses one connection: several connections of a process block each other at every row, and
        take twice the CPU time.
        """
        with self._reading(), closing(self._connect()) as database:
            self._check_rows(task, f"length(cells) = {RATED.itemsize}")
            query = TABLE.format(f"AND NOT EXISTS {ERASED}" if self._upgraded() else "")
            database.execute("BEGIN")  # one snapshot for all reads
            after: bytes | None = b""
            while after is not None:
                after, rows = database.execute(query, (after, task, ROWS_AT_ONCE)).fetchone()
                yield bytes.fromhex(rows or "")

    def check_tasks(self) -> None:
        """Implement `TaskChecker.check_tasks`. Raises `RequestError`."""
        with self._reading():
            number = "coalesce(continues, number)" if self._upgraded() else "number"
            count, report = self._database.execute(UNKNOWN.format(number)).fetchone()
            if count:
                raise sqlite3.DatabaseError(
                    f"{count} stored reports belong to an unknown task, for example report {report}"
                )

    def counts(self) -> list[tuple[int, int, int]]:
        """Implement `Inspector.counts`."""
        with self._reading():
            query = "SELECT task, epoch, count(*) FROM reports GROUP BY task, epoch"
            return self._database.execute(query).fetchall()

    def of_person(self, task: int, person: bytes) -> list[StoredReport]:
        """Implement `Inspector.of_person`."""
        with self._reading():
            query = "SELECT * FROM reports WHERE task = ? AND person = ? ORDER BY epoch, id"
            return [StoredReport(*row) for row in self._database.execute(query, (task, person))]

    def tombstones(self) -> list[Tombstone]:
        """Implement `Inspector.tombstones`."""
        with self._reading():
            if not self._upgraded():
                return []
            return [Tombstone(*row) for row in self._database.execute("SELECT * FROM erasures")]

    def clock(self) -> int | None:
        """Implement `Inspector.clock`."""
        with self._reading():
            if not self._upgraded():
                return None
            return self._database.execute("SELECT max(seconds) FROM clock").fetchone()[0]

    def size(self) -> int:
        """Implement `Inspector.size`: the file and its log."""
        paths = [Path(self._path), Path(f"{self._path}-wal")]
        return sum(path.stat().st_size for path in paths if path.exists())

    def close(self) -> None:
        """Implement `Reader.close`."""
        self._database.close()

    @contextmanager
    def _reading(self) -> Generator[None]:
        try:
            yield
        # SQLite quotes names of a damaged schema in its messages, which need not be UTF-8.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            reason = str(error).split("\n")[0]
            raise RequestError(
                f"{self._path} is not a store of reports or is damaged ({reason}); restore a "
                "backup."
            ) from None

    def _check_rows(self, task: int, cells: str) -> None:
        query = f"SELECT hex(id) FROM reports WHERE task = ? AND NOT ({SOUND} AND {cells}) LIMIT 1"
        for (report,) in self._database.execute(query, (task,)):
            raise sqlite3.DatabaseError(f"report {report} has a value of the wrong type or size")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{Path(self._path).absolute().as_uri()}?mode=ro", uri=True)

    def _upgraded(self) -> bool:
        return self._database.execute("PRAGMA user_version").fetchone()[0] >= VERSION
