"""Check an SQLite file once, before its rows are used: tables, types, references.

SQLite does not enforce column types, and a copied, repaired or edited file may have lost its
constraints.
"""

import sqlite3
from collections.abc import Container, Iterator
from functools import lru_cache

STORED_AS = {"INTEGER": "integer", "TEXT": "text", "BLOB": "blob", "REAL": "real"}
"""Result of SQLite's `typeof` for each declared type."""
COLUMNS = """
SELECT m.name, p.name, p.type, p."notnull", p.pk
FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'
"""

Column = tuple[str, str, str, int, int]


def check_tables(db: sqlite3.Connection, schema: str) -> None:
    """Raise `sqlite3.DatabaseError` unless the columns of all tables are those of the schema."""
    if odd := sorted({f"{table}.{name}" for table, name, *_ in _columns(db) ^ _expected(schema)}):
        raise sqlite3.DatabaseError(f"columns differ: {', '.join(odd[:9])}")


def check_all_rows(db: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` for a corrupt page, a value of another type than its column
    or a reference to a missing row."""
    (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found.splitlines()[-1])
    check_types(db, {table for table, *_ in _columns(db)})
    for table, *_ in db.execute("PRAGMA foreign_key_check"):
        raise sqlite3.DatabaseError(f"a row of {table} refers to a missing row")


def check_types(db: sqlite3.Connection, tables: Container[str]) -> None:
    """Raise `sqlite3.DatabaseError` if a value in these tables is of another type than its
    column."""
    for table, column in _wrong(db, tables):
        raise sqlite3.DatabaseError(f"{table}.{column} has a value of the wrong type")


def _wrong(db: sqlite3.Connection, tables: Container[str]) -> Iterator[tuple[str, str]]:
    for table, column, declared, required, key in sorted(_columns(db)):
        if table not in tables:
            continue
        null = "" if required or key else ", 'null'"
        types = f"'{STORED_AS.get(declared, declared)}'{null}"
        query = f'SELECT 1 FROM "{table}" WHERE typeof("{column}") NOT IN ({types}) LIMIT 1'
        if db.execute(query).fetchone():
            yield table, column


def _columns(db: sqlite3.Connection) -> frozenset[Column]:
    return frozenset(db.execute(COLUMNS).fetchall())


@lru_cache
def _expected(schema: str) -> frozenset[Column]:
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(schema)
        return _columns(db)
    finally:
        db.close()
