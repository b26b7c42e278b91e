"""A damaged PostgreSQL store is used or refused: no traceback, whatever was changed in it.

A case that fails is named by its number: `case(postgres url, number)` makes it again.
"""

import sqlite3
from collections import Counter
from contextlib import closing, suppress
from random import Random

import pytest
from changed_files import BYTES, FILES, NUMBERS
from mutating import Mutator
from used_files import use_collector

from tacit.collector.storage.addresses import open_store
from tacit.collector.storage.store import StoredReport
from tacit.errors import TacitError

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.postgres
STORES = ("rated", "sample", "catalogue", "implicit")
COLUMNS = {
    "tasks": ("number", "address", "document", "closed", "continues"),
    "reports": ("id", "task", "epoch", "mech", "person", "cells"),
    "erasures": ("task", "person", "epoch"),
    "clock": ("one", "seconds"),
}
OF_BYTES = ("address", "document", "id", "person", "cells")
TYPES = ("text", "bigint", "numeric", "real", "bytea", "jsonb")


def filled(url: str, name: str) -> None:
    """Write the tasks and reports of an SQLite store of ours to an empty database."""
    with closing(sqlite3.connect(FILES / f"{name}.collector.db")) as db:
        tasks = db.execute("SELECT number, document FROM tasks ORDER BY number").fetchall()
        rows = db.execute("SELECT id, task, epoch, mech, person, cells FROM reports").fetchall()
    with closing(open_store(url)) as store:
        numbers = {number: store.hold(document).number for number, document in tasks}
        reports = [StoredReport(*row) for row in rows]
        store.insert([row._replace(task=numbers[row.task]) for row in reports])


def value(chance, column, old):
    """Return another value for a column, of its type or of none."""
    if column == "document" and chance.random() < 0.5:
        return Mutator(chance.randrange(1 << 32)).text(bytes(old).decode(), spaced=True)
    if column in OF_BYTES:
        return chance.choice(BYTES)(chance, bytes(old)) if old else b"\0"
    return chance.choice((*NUMBERS, None))


def in_a_row(chance, db, table):
    """Change one value, or the values of a column in all rows."""
    column = chance.choice(COLUMNS[table])
    old = db.execute(f"SELECT ctid, {column} FROM {table}").fetchall()
    if old:
        ctid, before = chance.choice(old)
        where = "" if chance.random() < 0.2 else f" WHERE ctid = '{ctid}'"
        db.execute(f"UPDATE {table} SET {column} = %s{where}", (value(chance, column, before),))


def in_the_schema(chance, db, table):
    """Drop or rename a table or a column, change its type, or drop its constraints."""
    column = chance.choice(COLUMNS[table])
    wanted = chance.choice(TYPES)
    db.execute(
        chance.choice(
            (
                f"DROP TABLE {table}",
                f"ALTER TABLE {table} RENAME TO other",
                f"ALTER TABLE {table} DROP COLUMN {column}",
                f"ALTER TABLE {table} RENAME {column} TO other",
                f"ALTER TABLE {table} ALTER {column} TYPE {wanted} USING {column}::text::{wanted}",
                f"CREATE TABLE plain AS TABLE {table}; DROP TABLE {table}; "
                f"ALTER TABLE plain RENAME TO {table}; INSERT INTO {table} TABLE {table}",
                f"DELETE FROM {table}",
            )
        )
    )


def case(url: str, number: int) -> None:
    """Write case `number`: a valid store with one to three changes."""
    chance = Random(number)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        filled(url, chance.choice(STORES))
        if chance.random() < 0.5:  # without the constraints, which a change would not pass
            for table in ("tasks", "reports"):
                db.execute(
                    f"CREATE TABLE plain AS TABLE {table}; DROP TABLE {table}; "
                    f"ALTER TABLE plain RENAME TO {table}"
                )
        for _ in range(chance.choice((1, 1, 2, 3))):
            change = chance.choice((in_a_row, in_a_row, in_a_row, in_the_schema))
            # A change that PostgreSQL refuses, or a second one to a document.
            with suppress(psycopg.Error, ValueError):
                change(chance, db, chance.choice(("tasks", "reports", "reports", *COLUMNS)))


def outcome(url: str) -> str:
    """Return whether a store was used or refused with a sentence."""
    try:
        use_collector(url)
    except TacitError:
        return "refused"
    return "used"


@pytest.mark.parametrize(
    ("first", "count"), [(0, 80), pytest.param(80, 2_000, marks=pytest.mark.full)]
)
def test_damaged_databases_are_used_or_refused(postgres, first, count):
    url, found = postgres.database(), Counter()
    for number in range(first, first + count):
        case(url, number)
        try:
            found[outcome(url)] += 1
        except Exception as error:
            raise AssertionError(f"case {number}: {type(error).__name__}: {error}") from error
    assert found.keys() == {"used", "refused"}
