"""Reports in PostgreSQL, for who has one to keep: same rows, same promises."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString

import psycopg

from tacit.collector.storage.store import (
    Held,
    ReportOutcome,
    StoredReport,
    UncertainError,
    outcomes,
)
from tacit.errors import RequestError

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
UPGRADED = """
SELECT EXISTS (SELECT FROM information_schema.columns WHERE table_schema = current_schema()
AND table_name = 'tasks' AND column_name = 'continues')
"""
UPGRADE = "ALTER TABLE tasks ADD COLUMN continues integer"
"""Where reports of a task are kept that has no number of its own. Asked for only where it is not
there: it would wait for everybody who reads."""
SCHEMA_LOCK = 0x7461636974
"""Whoever makes or upgrades the tables holds this advisory lock: collectors may start together."""
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
"""To wait for a connection."""


def cause(error: psycopg.Error) -> str:
    """Why a database does not open, without what an address may hold that is secret."""
    # A server's and the system's own words alone: what faults an address quotes it.
    if not isinstance(error, psycopg.OperationalError):
        return type(error).__name__
    lines = str(error).strip().splitlines() or [type(error).__name__]
    found = next((line for line in lines if ": " in line), lines[0])
    return found.rpartition(": ")[2].strip().rstrip(".")


class PostgresStore:
    """The writer; connects again when the connection is lost. Raises `RequestError` at the start
    where there is no such database, or it may not be written."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._connection = self._connect()
            self._prepare()
        except psycopg.Error as error:
            raise RequestError(f"The database cannot be opened: {cause(error)}.") from None

    def hold(self, document: bytes, same: Sequence[bytes] = ()) -> Held:
        """As `ReportStore.hold`."""
        self._connection.execute(
            "INSERT INTO tasks (address, document, closed, continues) "
            "SELECT sha256(%s), %s, coalesce(max(closed), -1), min(coalesce(continues, number)) "
            "FROM tasks WHERE document = ANY(%s) ON CONFLICT DO NOTHING",
            (document, document, list(same)),
        )
        asked = f"SELECT {HELD} FROM tasks WHERE address = sha256(%s)"
        return Held(*self._connection.execute(asked, (document,)).fetchall()[0])

    def tasks(self) -> list[Held]:
        """As `ReportStore.tasks`."""
        return [Held(*row) for row in self._connection.execute(TASKS)]

    def insert(self, rows: Sequence[StoredReport]) -> list[ReportOutcome]:
        """As `ReportStore.insert`."""
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
        try:
            self._reconnect()
            with self._connection.transaction():
                new = {row[0] for row in self._connection.execute(INSERT, columns)}
                before = self._stored([id for id in columns[0] if id not in new])
        except psycopg.Error as error:
            # Whether a commit that was cut off took effect is not known. Nothing is acknowledged,
            # so the devices send again, and what did take effect is then a duplicate.
            with suppress(psycopg.Error):
                self._connection.close()
            raise UncertainError(type(error).__name__) from None
        return outcomes(rows, before)

    def shut(self, task: int, epoch: int) -> None:
        """As `ReportStore.shut`."""
        self._connection.execute(
            "UPDATE tasks SET closed = greatest(closed, %s) WHERE coalesce(continues, number) = %s",
            (epoch, task),
        )

    def forget(self, task: int, epoch: int, first_byte: int) -> int:
        """As `ReportStore.forget`."""
        low, high = bytes([first_byte]), bytes([first_byte]) + b"\xff" * 16
        return self._connection.execute(
            "DELETE FROM reports WHERE id BETWEEN %s AND %s AND task = %s "
            f"AND (epoch <= %s OR EXISTS {ERASED})",
            (low, high, task, epoch),
        ).rowcount

    def erase(self, task: int, person: bytes, epoch: int) -> None:
        """As `ReportStore.erase`."""
        self._reconnect()
        self._connection.execute(
            "INSERT INTO erasures VALUES (%s, %s, %s) ON CONFLICT (task, person) "
            "DO UPDATE SET epoch = greatest(erasures.epoch, excluded.epoch)",
            (task, person, epoch),
        )

    def erasures(self, task: int) -> int:
        """As `ReportStore.erasures`."""
        return self._one("SELECT count(*) FROM erasures WHERE task = %s", task)

    def settle(self, task: int, epoch: int) -> int:
        """As `ReportStore.settle`."""
        gone = "DELETE FROM erasures WHERE task = %s AND epoch <= %s"
        return self._connection.execute(gone, (task, epoch)).rowcount

    def clock(self) -> int | None:
        """As `ReportStore.clock`."""
        return self._one("SELECT max(seconds) FROM clock")

    def keep_clock(self, now: int, limit: int) -> int:
        """As `ReportStore.keep_clock`."""
        self._reconnect()
        self._connection.execute(
            "INSERT INTO clock VALUES (1, %s) ON CONFLICT (one) DO UPDATE "
            "SET seconds = excluded.seconds WHERE excluded.seconds > clock.seconds "
            "AND excluded.seconds <= clock.seconds + %s",
            (now, limit),
        )
        return self._one("SELECT seconds FROM clock")

    def set_clock(self, now: int) -> None:
        """As `ReportStore.set_clock`."""
        self._connection.execute(
            "INSERT INTO clock VALUES (1, %s) "
            "ON CONFLICT (one) DO UPDATE SET seconds = excluded.seconds",
            (now,),
        )

    def newest(self) -> list[tuple[bytes, int]]:
        """As `ReportStore.newest`."""
        return self._connection.execute(
            "SELECT document, newest FROM tasks JOIN "
            "(SELECT task, max(epoch) AS newest FROM reports GROUP BY task) AS found "
            "ON task = number"
        ).fetchall()

    def close(self) -> None:
        """As `ReportStore.close`."""
        self._connection.close()

    def _prepare(self) -> None:
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
            self._connection.execute(SCHEMA)
            if not self._one(UPGRADED):
                self._connection.execute(UPGRADE)

    def _one(self, statement: LiteralString, *values: Any) -> Any:
        return self._connection.execute(statement, values).fetchall()[0][0]

    def _reconnect(self) -> None:
        if self._connection.closed:
            self._connection = self._connect()

    def _connect(self) -> "psycopg.Connection[Any]":
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=SECONDS)
        connection.execute("SET synchronous_commit = on")  # whatever the server's default is
        return connection

    def _stored(self, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        if not ids:
            return {}
        found = self._connection.execute("SELECT * FROM reports WHERE id = ANY(%s)", (list(ids),))
        return {row[0]: StoredReport(*row) for row in found}
