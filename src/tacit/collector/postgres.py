"""Reports in PostgreSQL, for who has one to keep: same rows, same promises."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from tacit.collector.store import READ_AT_ONCE, Held, Outcome, Row, StoreError, outcomes
from tacit.errors import RequestError

SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    address bytea NOT NULL UNIQUE,
    document bytea NOT NULL,
    closed integer NOT NULL DEFAULT -1
);
CREATE TABLE IF NOT EXISTS reports (
    id bytea PRIMARY KEY,
    task integer NOT NULL,
    epoch integer NOT NULL,
    mech smallint NOT NULL,
    person bytea NOT NULL,
    cells bytea NOT NULL
);
"""
INSERT = """
INSERT INTO reports
SELECT * FROM unnest(%s::bytea[], %s::int[], %s::int[], %s::smallint[], %s::bytea[], %s::bytea[])
ON CONFLICT DO NOTHING RETURNING id
"""
SECONDS = 5
"""To wait for a connection."""


class PostgresStore:
    """The writer; connects again when the connection is lost. Raises `RequestError` at the start
    where there is no such database, or it may not be written."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._connection = self._connect()
            self._connection.execute(SCHEMA)
        except psycopg.Error as error:
            raise RequestError(f"The database does not open: {type(error).__name__}.") from None

    def hold(self, document: bytes) -> Held:
        key = "sha256(%s)"
        self._connection.execute(
            f"INSERT INTO tasks (address, document) VALUES ({key}, %s) ON CONFLICT DO NOTHING",
            (document, document),
        )
        asked = f"SELECT number, document, closed FROM tasks WHERE address = {key}"
        return Held(*self._connection.execute(asked, (document,)).fetchall()[0])

    def insert(self, rows: Sequence[Row]) -> list[Outcome]:
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
        try:
            if self._connection.closed:
                self._connection = self._connect()
            with self._connection.transaction():
                new = {row[0] for row in self._connection.execute(INSERT, columns)}
                before = self._stored([id for id in columns[0] if id not in new])
        except psycopg.Error as error:
            # Whether a commit that was cut off took effect is not known. Nothing is acknowledged,
            # so the devices send again, and what did take effect is then a duplicate.
            with suppress(psycopg.Error):
                self._connection.close()
            raise StoreError(type(error).__name__) from None
        return outcomes(rows, before)

    def shut(self, task: int, epoch: int) -> None:
        closed = "UPDATE tasks SET closed = greatest(closed, %s) WHERE number = %s"
        self._connection.execute(closed, (epoch, task))

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        low, high = bytes([first_byte]), bytes([first_byte]) + b"\xff" * 16
        return self._connection.execute(
            "DELETE FROM reports WHERE id BETWEEN %s AND %s AND task = %s AND epoch <= %s",
            (low, high, task, epoch),
        ).rowcount

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> "psycopg.Connection[Any]":
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=SECONDS)
        connection.execute("SET synchronous_commit = on")  # whatever the server's default is
        return connection

    def _stored(self, ids: Sequence[bytes]) -> dict[bytes, Row]:
        if not ids:
            return {}
        found = self._connection.execute("SELECT * FROM reports WHERE id = ANY(%s)", (list(ids),))
        return {row[0]: Row(*row) for row in found}


class PostgresReader:
    """Reads one snapshot at a time; raises `RequestError` where there is no such store."""

    def __init__(self, url: str) -> None:
        try:
            self._connection = psycopg.connect(url, connect_timeout=SECONDS)
            self._connection.read_only = True
        except psycopg.Error as error:
            raise RequestError(f"The database does not open: {type(error).__name__}.") from None

    def tasks(self) -> list[Held]:
        try:
            asked = "SELECT number, document, closed FROM tasks ORDER BY number DESC"
            return [Held(*row) for row in self._connection.execute(asked)]
        except psycopg.Error:
            raise RequestError(
                "This database holds no reports; `tacit collect` makes it."
            ) from None

    def scan(self, task: int) -> Iterator[list[Row]]:
        with self._connection.cursor(name="reports") as cursor:
            cursor.itersize = READ_AT_ONCE
            cursor.execute("SELECT * FROM reports WHERE task = %s", (task,))
            rows = (Row(*row) for row in cursor)
            while some := list(itertools.islice(rows, READ_AT_ONCE)):
                yield some

    def close(self) -> None:
        self._connection.close()
