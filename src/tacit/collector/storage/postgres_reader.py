"""Reader of PostgreSQL: pages of the table over several connections, in one snapshot."""

import itertools
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
from psycopg import sql

from tacit.collector.storage.postgres import ERASED, SECONDS, TASKS, UPGRADED, cause, check_columns
from tacit.collector.storage.slot_codec import RATED
from tacit.collector.storage.store import (
    READ_AT_ONCE,
    Held,
    StoredReport,
    Tombstone,
    in_order,
)
from tacit.errors import RequestError

TABLE = """
SELECT string_agg(person || cells || int2send(mech) || int8send(epoch), '')
FROM reports WHERE ctid >= %s::text::tid AND ctid < %s::text::tid AND task = %s
"""
"""Rows on some pages of the table, in the binary format of `slot_codec.STORED`."""
UNKNOWN = """
SELECT count(*) OVER (), encode(id, 'hex') FROM reports
WHERE task NOT IN (SELECT {} FROM tasks) LIMIT 1
"""
"""Reports that no task would read. `{}`: the number under which a task's reports are stored."""
WRONG = """
SELECT encode(id, 'hex') FROM reports WHERE task = %s AND NOT (
epoch >= 0 AND mech >= 0 AND octet_length(id) > 0 AND octet_length(person) = 16
AND octet_length(cells) BETWEEN %s AND %s) LIMIT 1
"""
"""A report with a value of the wrong size."""
MOST_CELLS = 1 << 30
"""Bytes of the largest value in PostgreSQL."""
PAGES = "SELECT pg_relation_size('reports') / current_setting('block_size')::int"
PAGES_AT_ONCE = 1 << 11
"""16 MiB of the table, about 6 MB of such rows."""
EXPORT = "SELECT pg_export_snapshot()"
JOIN = sql.SQL("SET TRANSACTION SNAPSHOT {}")
"""Join the snapshot of another transaction."""


class PostgresReader:
    """Reads one snapshot at a time, tables over `connections` connections.

    Raises `RequestError` if the store does not exist.
    """

    def __init__(self, url: str, connections: int = 1) -> None:
        self._url, self._connections = url, connections
        try:
            self._connection = self._connect()
        except psycopg.Error as error:
            raise RequestError(f"The database cannot be opened: {cause(error)}.") from None

    def tasks(self) -> list[Held]:
        """Implement `Reader.tasks`. Raises `RequestError` if the store does not exist."""
        try:
            if self._exists():
                check_columns(self._connection, ("tasks", "reports"))
            before = "SELECT number, document, closed FROM tasks ORDER BY number DESC"
            rows = self._connection.execute(TASKS if self._upgraded() else before)
            return [Held(*row) for row in rows]
        except psycopg.Error:
            raise RequestError(
                "This database contains no reports; create the store with `tacit collect`."
            ) from None

    def scan(self, task: int) -> Iterator[list[StoredReport]]:
        """Implement `Reader.scan`."""
        self._check_rows(task, 1, MOST_CELLS)
        query = "SELECT * FROM reports WHERE task = %s"
        if self._upgraded():
            query += f" AND NOT EXISTS {ERASED}"
        with self._connection.cursor(name="reports") as cursor:
            cursor.itersize = READ_AT_ONCE
            cursor.execute(query, (task,))
            rows = (StoredReport(*row) for row in cursor)
            while some := list(itertools.islice(rows, READ_AT_ONCE)):
                yield some

    def tables(self, task: int) -> Iterator[bytes]:
        """Implement `TableReader.tables`, in the order of the table's pages."""
        self._check_rows(task, RATED.itemsize, RATED.itemsize)
        query = TABLE + (f" AND NOT EXISTS {ERASED}" if self._upgraded() else "")

        def read(connection: "psycopg.Connection[Any]", first: int) -> bytes:
            ends = f"({first},0)", f"({first + PAGES_AT_ONCE},0)"
            with connection.cursor(binary=True) as cursor:
                return cursor.execute(query, (*ends, task)).fetchall()[0][0] or b""

        with self.together() as connections:
            pages = connections[0].execute(PAGES).fetchall()[0][0]
            yield from in_order(read, connections, range(0, pages, PAGES_AT_ONCE))

    @contextmanager
    def together(self) -> Generator[list["psycopg.Connection[Any]"]]:
        """Open connections with one snapshot, as many as requested and available."""
        with ExitStack() as at_the_end:
            first = at_the_end.enter_context(self._connect())
            first.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            snapshot = first.execute(EXPORT).fetchall()[0][0]
            connections = [first]
            for _ in range(1, self._connections):
                try:
                    other = at_the_end.enter_context(self._connect())
                    other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                    other.execute(JOIN.format(snapshot))
                except psycopg.Error:  # too many connections: use the open ones
                    break
                connections.append(other)
            yield connections

    def check_tasks(self) -> None:
        """Implement `TaskChecker.check_tasks`. Raises `RequestError`."""
        check_columns(self._connection, ("tasks", "reports"))
        number = "coalesce(continues, number)" if self._upgraded() else "number"
        query = sql.SQL(UNKNOWN).format(sql.SQL(number))
        for count, report in self._connection.execute(query):
            raise RequestError(
                f"The database is damaged ({count} stored reports belong to an unknown task, for "
                f"example report {report}); restore a backup."
            )

    def counts(self) -> list[tuple[int, int, int]]:
        """Implement `Inspector.counts`."""
        query = "SELECT task, epoch, count(*) FROM reports GROUP BY task, epoch"
        return self._connection.execute(query).fetchall()

    def of_person(self, task: int, person: bytes) -> list[StoredReport]:
        """Implement `Inspector.of_person`."""
        query = "SELECT * FROM reports WHERE task = %s AND person = %s ORDER BY epoch, id"
        return [StoredReport(*row) for row in self._connection.execute(query, (task, person))]

    def tombstones(self) -> list[Tombstone]:
        """Implement `Inspector.tombstones`."""
        if not self._upgraded():
            return []
        return [Tombstone(*row) for row in self._connection.execute("SELECT * FROM erasures")]

    def clock(self) -> int | None:
        """Implement `Inspector.clock`."""
        if not self._upgraded():
            return None
        return self._connection.execute("SELECT max(seconds) FROM clock").fetchall()[0][0]

    def size(self) -> int:
        """Implement `Inspector.size`: the tables of reports, with their indexes."""
        return self._connection.execute("SELECT pg_total_relation_size('reports')").fetchall()[0][0]

    def _check_rows(self, task: int, least: int, most: int) -> None:
        check_columns(self._connection, ("tasks", "reports"))
        for (report,) in self._connection.execute(WRONG, (task, least, most)):
            raise RequestError(
                f"The database is damaged (report {report} has a value of the wrong size); restore "
                "a backup."
            )

    def close(self) -> None:
        """Implement `Reader.close`."""
        self._connection.close()

    def _connect(self) -> "psycopg.Connection[Any]":
        connection = psycopg.connect(self._url, connect_timeout=SECONDS)
        connection.read_only = True
        return connection

    def _exists(self) -> bool:
        return self._connection.execute("SELECT to_regclass('tasks') IS NOT NULL").fetchall()[0][0]

    def _upgraded(self) -> bool:
        return self._connection.execute(UPGRADED).fetchall()[0][0]
