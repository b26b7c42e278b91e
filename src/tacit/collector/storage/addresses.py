"""Stores by address: a path is SQLite's, postgresql:// is PostgreSQL's."""

from types import ModuleType

from tacit.collector.storage import sqlite
from tacit.collector.storage.store import Reader, ReportStore
from tacit.errors import RequestError


def open_store(url: str) -> ReportStore:
    """The store at a path (SQLite) or a `postgresql://` address, made where there is none.

    Raises `RequestError` where it cannot be opened.
    """
    if is_postgres(url):
        return _postgres().PostgresStore(url)
    return sqlite.SqliteStore(url)


def open_reader(url: str) -> Reader:
    """The same, to read; raises `RequestError` where there is no store."""
    if is_postgres(url):
        return _postgres().PostgresReader(url)
    return sqlite.SqliteReader(url)


def is_postgres(url: str) -> bool:
    """Whether it is PostgreSQL's; raises `RequestError` for another scheme."""
    scheme, found, _ = url.partition("://")
    if found and scheme not in ("postgresql", "postgres"):
        raise RequestError(f"There is no store for {scheme}://; give a path or postgresql://...")
    return bool(found)


def _postgres() -> ModuleType:
    try:
        from tacit.collector.storage import postgres
    except ImportError as error:
        raise RequestError(f"A PostgreSQL store needs tacit[postgres]: {error}.") from None
    return postgres
