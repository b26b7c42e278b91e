"""Reading reports in a SQLite file, all of one state of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tacit.collector.storage.sqlite import ERASED, TASKS, VERSION
from tacit.collector.storage.store import READ_AT_ONCE, Held, StoredReport
from tacit.errors import RequestError

TABLE = """
SELECT max(id), group_concat(row, '') FROM (
    SELECT id, hex(person) || hex(cells) || printf('%04X%016X', mech, epoch) AS row
    FROM reports WHERE id > ? AND task = ? {} ORDER BY id LIMIT ?
)
"""
"""The next rows after an id and the last id of them; in hexadecimal, the bytes of
`slot_codec.STORED`."""
ROWS_AT_ONCE = 1 << 16
"""4 MiB of such rows."""


class SqliteReader:
    """Reads a snapshot; a collector may go on writing. Raises `RequestError` for no such file.

    A store that no collector has upgraded yet is read as it is.
    """

    def __init__(self, path: str) -> None:
        if not Path(path).is_file():
            raise RequestError(f"{path} is no store of reports; `tacit collect --db` makes one.")
        self._path = path
        self._database = self._connect()

    def tasks(self) -> list[Held]:
        """As `Reader.tasks`; raises `RequestError` where there is no store."""
        try:
            before = "SELECT number, document, closed FROM tasks ORDER BY number DESC"
            found = self._database.execute(TASKS if self._upgraded() else before)
            return [Held(*row) for row in found]
        except sqlite3.Error as error:
            raise RequestError(f"{self._path} is no store of reports: {error}.") from None

    def scan(self, task: int) -> Iterator[list[StoredReport]]:
        """As `Reader.scan`."""
        asked = "SELECT * FROM reports WHERE task = ?1"
        if self._upgraded():
            asked += f" AND NOT EXISTS {ERASED}"
        found = self._database.execute(asked, (task,))
        while rows := found.fetchmany(READ_AT_ONCE):
            yield [StoredReport(*row) for row in rows]

    def tables(self, task: int) -> Iterator[bytes]:
        """As `TableReader.tables`, in the order of ids.

        By one connection: several of one process wait for each other at every row, and take twice
        the CPU time.
        """
        asked = TABLE.format(f"AND NOT EXISTS {ERASED}" if self._upgraded() else "")
        with closing(self._connect()) as database:
            database.execute("BEGIN")  # one state for all that is read in it
            after: bytes | None = b""
            while after is not None:
                after, rows = database.execute(asked, (after, task, ROWS_AT_ONCE)).fetchone()
                yield bytes.fromhex(rows or "")

    def close(self) -> None:
        """As `Reader.close`."""
        self._database.close()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{Path(self._path).absolute().as_uri()}?mode=ro", uri=True)

    def _upgraded(self) -> bool:
        return self._database.execute("PRAGMA user_version").fetchone()[0] >= VERSION
