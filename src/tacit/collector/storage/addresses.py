"""Stores by address: SQLite for a path, PostgreSQL for postgresql://."""

from importlib import import_module
from types import ModuleType

from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.collector.storage.store import Inspector, ReportStore
from tacit.errors import RequestError


def open_store(url: str, *, sole: bool = False) -> ReportStore:
    """Open the store at a path (SQLite) or a `postgresql://` address, created if missing.

    `sole`: whether to refuse an SQLite file on which a collector is running. Raises `RequestError`
    if it cannot be opened, and `UnreachableError` if a database server does not respond yet.
    """
    if is_postgres(url):
        return _import("postgres").PostgresStore(url)
    return SqliteStore(url, sole=sole)


def open_reader(url: str, connections: int = 1) -> Inspector:
    """Open a store for reading, by at most `connections` connections where several are faster.

    Raises `RequestError` if the store does not exist.
    """
    if is_postgres(url):
        return _import("postgres_reader").PostgresReader(url, connections)
    return SqliteReader(url)


def is_postgres(url: str) -> bool:
    """Return whether the address is PostgreSQL's. Raises `RequestError` for another scheme."""
    scheme, separator, _ = url.partition("://")
    if separator and scheme not in ("postgresql", "postgres"):
        raise RequestError(f"The store must be a path or postgresql://..., got {scheme}://")
    return bool(separator)


def _import(module: str) -> ModuleType:
    """Import a module of this package that needs PostgreSQL's driver."""
    try:
        return import_module(f"tacit.collector.storage.{module}")
    except ImportError as error:
        raise RequestError(
            f"A PostgreSQL store is not available ({error}). Run pip install "
            "'tacit-recommender[postgres]'."
        ) from None
