"""Reports in PostgreSQL, with the same rows and guarantees as in SQLite."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString

import psycopg

from tacit.collector.storage.store import (
    Held,
    ReportOutcome,
    StoredReport,
    StoreError,
    UncertainError,
    UnreachableError,
    outcomes,
)
from tacit.errors import RequestError
from tacit.wire.strict import ENDS

SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    address bytea NOT NULL UNIQUE,
    document bytea NOT NULL,
    closed integer NOT NULL DEFAULT -1,
    continues integer
);
CREATE TABLE IF NOT EXISTS reports (
    id bytea PRIMARY KEY,
    task integer NOT NULL,
    epoch integer NOT NULL,
    mech smallint NOT NULL,
    person bytea NOT NULL,
    cells bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS erasures (
    task integer NOT NULL,
    person bytea NOT NULL,
    epoch integer NOT NULL,
    PRIMARY KEY (task, person)
);
CREATE TABLE IF NOT EXISTS clock (
    one integer PRIMARY KEY CHECK (one = 1),
    seconds bigint NOT NULL
);
"""
COLUMNS = {
    "tasks": "number integer*, address bytea!, document bytea!, closed integer!, continues integer",
    "reports": (
        "id bytea*, task integer!, epoch integer!, mech smallint!, person bytea!, cells bytea!"
    ),
    "erasures": "task integer*, person bytea*, epoch integer!",
    "clock": "one integer*, seconds bigint!",
}
"""Columns of each table of `SCHEMA`: `!` for NOT NULL, `*` for the primary key."""
COLUMNS_QUERY = """
SELECT c.relname, a.attname || ' ' || format_type(a.atttypid, -1) || CASE
WHEN coalesce(a.attnum = ANY(i.indkey), false) THEN '*' WHEN a.attnotnull THEN '!' ELSE '' END
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
AND c.relname = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
"""
UPGRADED = """
SELECT EXISTS (SELECT FROM information_schema.columns WHERE table_schema = current_schema()
AND table_name = 'tasks' AND column_name = 'continues')
"""
UPGRADE = "ALTER TABLE tasks ADD COLUMN continues integer"
"""Number under which reports of a continued task are stored. Run only if the column is missing: it
would wait for all readers."""
SCHEMA_LOCK = 0x7461636974
"""Advisory lock while tables are created or upgraded: collectors may start at the same time."""
HELD = "coalesce(continues, number), document, closed"
TASKS = f"SELECT {HELD} FROM tasks ORDER BY tasks.number DESC"
ERASED = """
(SELECT 1 FROM erasures
WHERE erasures.task = reports.task AND erasures.person = reports.person)
"""
INSERT = """
INSERT INTO reports
SELECT * FROM unnest(%s::bytea[], %s::int[], %s::int[], %s::smallint[], %s::bytea[], %s::bytea[])
ON CONFLICT DO NOTHING RETURNING id
"""
SECONDS = 5
"""Connection timeout."""
NOT_YET = ("starting up", "shutting down", "recovery", "too many")
"""Refusals of a server that may accept a connection later."""


def cause(error: psycopg.Error) -> str:
    """Return why a database does not open, without secrets that an address may contain."""
    # Only messages of the server and the system: errors of the address quote it.
    if not isinstance(error, psycopg.OperationalError):
        return type(error).__name__
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line_with_cause = next((line for line in lines if ": " in line), lines[0])
    return line_with_cause.rpartition(": ")[2].strip().rstrip(".")


def connect(url: str) -> "psycopg.Connection[Any]":
    """Return a connection of a writer, whose commits are on disk whatever the server's default is.

    A server that vanished is noticed after ten seconds, not after hours. Raises `psycopg.Error`.
    """
    connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=SECONDS,
        keepalives_idle=SECONDS,
        keepalives_interval=1,
        keepalives_count=SECONDS,
    )
    connection.execute("SET synchronous_commit = on")
    return connection


def refused(error: psycopg.Error) -> RequestError:
    """Return the error of a database that does not open: whether it may open later, and why."""
    message = f"The database cannot be opened: {cause(error)}."
    responded = "FATAL" in str(error) and not any(each in str(error) for each in NOT_YET)
    if isinstance(error, psycopg.OperationalError) and not responded:
        return UnreachableError(message)
    return RequestError(message)


def check_columns(connection: "psycopg.Connection[Any]", tables: Sequence[str]) -> None:
    """Raise `RequestError` unless the columns of these tables are those of `SCHEMA`.

    `tasks.continues` may be missing, in a store of an older version.
    """
    expected = {f"{table}.{each}" for table in tables for each in COLUMNS[table].split(", ")}
    actual = {
        f"{table}.{column}" for table, column in connection.execute(COLUMNS_QUERY, (list(tables),))
    }
    if odd := sorted((actual ^ expected) - {"tasks.continues integer"}):
        names = ", ".join(dict.fromkeys(each.split(" ")[0] for each in odd))
        raise RequestError(f"The database is damaged (columns differ: {names}); restore a backup.")


class PostgresStore:
    """The writer. Reconnects when the connection is lost.

    Raises `RequestError` at the start if the database does not exist or is not writable, and
    `UnreachableError` if its server does not respond yet.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._connection = connect(url)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise
        except psycopg.Error as error:
            raise refused(error) from None

    def hold(self, document: bytes, same: Sequence[bytes] = ()) -> Held:
        """Implement `ReportStore.hold`."""
        self._connection.execute(
            "INSERT INTO tasks (address, document, closed, continues) "
            "SELECT sha256(%s), %s, coalesce(max(closed), -1), min(coalesce(continues, number)) "
            "FROM tasks WHERE document = ANY(%s) ON CONFLICT DO NOTHING",
            (document, document, list(same)),
        )
        query = f"SELECT {HELD} FROM tasks WHERE address = sha256(%s)"
        return Held(*self._connection.execute(query, (document,)).fetchall()[0])

    def tasks(self) -> list[Held]:
        """Implement `ReportStore.tasks`."""
        return [Held(*row) for row in self._connection.execute(TASKS)]

    def insert(self, rows: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Implement `ReportStore.insert`."""
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
        try:
            self._reconnect()
            with self._connection.transaction():
                new = {row[0] for row in self._connection.execute(INSERT, columns)}
                before = self._stored([id for id in columns[0] if id not in new])
        except psycopg.Error as error:
            # An interrupted commit may have taken effect. Nothing is acknowledged, so devices send
            # again, and reports that were stored are then duplicates.
            with suppress(psycopg.Error):
                self._connection.close()
            raise UncertainError(cause(error)) from None
        return outcomes(rows, before)

    def shut(self, task: int, epoch: int) -> None:
        """Implement `ReportStore.shut`."""
        self._connection.execute(
            "UPDATE tasks SET closed = greatest(closed, %s) WHERE coalesce(continues, number) = %s",
            (epoch, task),
        )

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        """Implement `ReportStore.forget`."""
        low, high = bytes([first_byte]), bytes([first_byte]) + b"\xff" * 16
        return self._connection.execute(
            "DELETE FROM reports WHERE id BETWEEN %s AND %s AND task = %s "
            f"AND (epoch <= %s OR EXISTS {ERASED})",
            (low, high, task, epoch),
        ).rowcount

    def erase(self, task: int, person: bytes, epoch: int) -> None:
        """Implement `ReportStore.erase`."""
        self._reconnect()
        self._connection.execute(
            "INSERT INTO erasures VALUES (%s, %s, %s) ON CONFLICT (task, person) "
            "DO UPDATE SET epoch = greatest(erasures.epoch, excluded.epoch)",
            (task, person, epoch),
        )

    def erasures(self, task: int) -> int:
        """Implement `ReportStore.erasures`."""
        return self._one("SELECT count(*) FROM erasures WHERE task = %s", task)

    def settle(self, task: int, epoch: int) -> int:
        """Implement `ReportStore.settle`."""
        gone = "DELETE FROM erasures WHERE task = %s AND epoch <= %s"
        return self._connection.execute(gone, (task, epoch)).rowcount

    def clock(self) -> int | None:
        """Implement `ReportStore.clock`."""
        return self._one("SELECT max(seconds) FROM clock")

    def keep_clock(self, now: int, limit: int) -> int:
        """Implement `ReportStore.keep_clock`."""
        self._reconnect()
        self._connection.execute(
            "INSERT INTO clock VALUES (1, %s) ON CONFLICT (one) DO UPDATE "
            "SET seconds = excluded.seconds WHERE excluded.seconds > clock.seconds "
            "AND excluded.seconds <= clock.seconds + %s",
            (now, limit),
        )
        return self._one("SELECT seconds FROM clock")

    def set_clock(self, now: int) -> None:
        """Implement `ReportStore.set_clock`."""
        self._connection.execute(
            "INSERT INTO clock VALUES (1, %s) "
            "ON CONFLICT (one) DO UPDATE SET seconds = excluded.seconds",
            (now,),
        )

    def newest(self) -> list[tuple[bytes, int]]:
        """Implement `ReportStore.newest`."""
        return self._connection.execute(
            "SELECT document, newest FROM tasks JOIN "
            "(SELECT task, max(epoch) AS newest FROM reports GROUP BY task) AS found "
            "ON task = number"
        ).fetchall()

    def probe(self) -> None:
        """Implement `ReportStore.probe`."""
        try:
            self._reconnect()
            self._connection.execute("UPDATE clock SET seconds = seconds")
        except psycopg.Error as error:
            with suppress(psycopg.Error):
                self._connection.close()
            raise StoreError(cause(error)) from None

    def close(self) -> None:
        """Implement `ReportStore.close`."""
        self._connection.close()

    def _prepare(self) -> None:
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
            self._connection.execute(SCHEMA)
            if not self._one(UPGRADED):
                self._connection.execute(UPGRADE)
        check_columns(self._connection, tuple(COLUMNS))
        if self._one("SELECT count(*) FROM clock WHERE seconds NOT BETWEEN 0 AND %s", ENDS):
            raise RequestError(
                "The database is damaged (its clock is out of range); restore a backup."
            )

    def _one(self, statement: LiteralString, *values: Any) -> Any:
        return self._connection.execute(statement, values).fetchall()[0][0]

    def _reconnect(self) -> None:
        if self._connection.closed:
            self._connection = connect(self._url)

    def _stored(self, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        if not ids:
            return {}
        rows = self._connection.execute("SELECT * FROM reports WHERE id = ANY(%s)", (list(ids),))
        return {row[0]: StoredReport(*row) for row in rows}
