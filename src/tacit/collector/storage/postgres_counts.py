"""Counts in PostgreSQL, shared by all collectors of a database, in tables excluded from backups."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress

import psycopg

from tacit.collector.limits.counts import Running, TokenCounts
from tacit.collector.storage.postgres import SCHEMA_LOCK, cause, connect, refused
from tacit.collector.storage.store import StoreError

SCHEMA = """
CREATE TABLE IF NOT EXISTS token_running (
    task bytea PRIMARY KEY,
    epoch bigint NOT NULL,
    mark bytea,
    ends bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS token_counts (
    task bytea NOT NULL,
    name bytea NOT NULL,
    reports bigint NOT NULL,
    people bigint NOT NULL,
    PRIMARY KEY (task, name)
);
CREATE TABLE IF NOT EXISTS token_people (
    task bytea NOT NULL,
    name bytea NOT NULL,
    PRIMARY KEY (task, name)
);
"""


class PostgresCounts:
    """Counts in PostgreSQL. Reconnects when the connection is lost.

    Rows of a transaction are locked and written in the order of their names, so collectors cannot
    deadlock. Raises `RequestError` at the start if the database does not exist or is not writable,
    and `UnreachableError` if its server does not respond yet.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._connection = connect(self._url)
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
                self._connection.execute(SCHEMA)
        except psycopg.Error as error:
            raise refused(error) from None

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Generator[None]:
        """Implement `Counts.transaction`."""
        try:
            if self._connection.closed:
                self._connection = connect(self._url)
            with self._connection.transaction():
                if alone:
                    self._connection.execute("LOCK TABLE token_running IN EXCLUSIVE MODE")
                yield
        except psycopg.Error as error:
            with suppress(psycopg.Error):
                self._connection.close()
            raise StoreError(cause(error)) from None

    def running(self) -> dict[bytes, Running]:
        """Implement `Counts.running`."""
        query = "SELECT task, epoch, mark, ends FROM token_running ORDER BY task FOR SHARE"
        return {task: Running(*rest) for task, *rest in self._connection.execute(query)}

    def enter(self, task: bytes, running: Running) -> None:
        """Implement `Counts.enter`."""
        for table in ("token_counts", "token_people"):
            self._connection.execute(f"DELETE FROM {table} WHERE task = %s", (task,))
        self.mark(task, running)

    def mark(self, task: bytes, running: Running) -> None:
        """Implement `Counts.mark`."""
        self._connection.execute(
            "INSERT INTO token_running VALUES (%s, %s, %s, %s) ON CONFLICT (task) DO UPDATE "
            "SET epoch = excluded.epoch, mark = excluded.mark, ends = excluded.ends",
            (task, *running),
        )

    def tallies(self, task: bytes, names: Iterable[bytes]) -> dict[bytes, TokenCounts]:
        """Implement `Counts.tallies`."""
        every = sorted(names)
        self._connection.execute(
            "INSERT INTO token_counts SELECT %s, unnest(%s::bytea[]), 0, 0 ON CONFLICT DO NOTHING",
            (task, every),
        )
        rows = self._connection.execute(
            "SELECT name, reports, people FROM token_counts "
            "WHERE task = %s AND name = ANY(%s) ORDER BY name FOR UPDATE",
            (task, every),
        )
        return {name: TokenCounts(*rest) for name, *rest in rows}

    def known(self, task: bytes, people: Iterable[bytes]) -> set[bytes]:
        """Implement `Counts.known`."""
        query = "SELECT name FROM token_people WHERE task = %s AND name = ANY(%s)"
        return {name for (name,) in self._connection.execute(query, (task, list(people)))}

    def keep(
        self, task: bytes, tallies: Mapping[bytes, TokenCounts], people: Iterable[bytes]
    ) -> None:
        """Implement `Counts.keep`."""
        names, pairs = list(tallies), list(tallies.values())
        self._connection.execute(
            "UPDATE token_counts AS kept SET reports = new.reports, people = new.people "
            "FROM unnest(%s::bytea[], %s::bigint[], %s::bigint[]) AS new (name, reports, people) "
            "WHERE kept.task = %s AND kept.name = new.name",
            (names, [pair.reports for pair in pairs], [pair.people for pair in pairs], task),
        )
        self._connection.execute(
            "INSERT INTO token_people SELECT %s, unnest(%s::bytea[]) ON CONFLICT DO NOTHING",
            (task, sorted(people)),
        )

    def scrub(self) -> None:
        """Do nothing: PostgreSQL overwrites deleted data when it vacuums."""

    def close(self) -> None:
        """Implement `Counts.close`."""
        self._connection.close()
