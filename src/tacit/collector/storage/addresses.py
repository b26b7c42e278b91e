"""Stores by address: a path is SQLite's, postgresql:// is PostgreSQL's."""

from importlib import import_module
from types import ModuleType

from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.sqlite_reader import SqliteReader
from tacit.collector.storage.store import Reader, ReportStore
from tacit.errors import RequestError


def open_store(url: str) -> ReportStore:
    """The store at a path (SQLite) or a `postgresql://` address, made where there is none.

    Raises `RequestError` where it cannot be opened.
    """
    if is_postgres(url):
        return _module("postgres").PostgresStore(url)
    return SqliteStore(url)


def open_reader(url: str, connections: int = 1) -> Reader:
    """The same, to read, by at most so many connections where several are faster than one; raises
    `RequestError` where there is no store."""
    if is_postgres(url):
        return _module("postgres_reader").PostgresReader(url, connections)
    return SqliteReader(url)


def is_postgres(url: str) -> bool:
    """Whether it is PostgreSQL's; raises `RequestError` for another scheme."""
    scheme, found, _ = url.partition("://")
    if found and scheme not in ("postgresql", "postgres"):
        raise RequestError(f"The store must be a path or postgresql://..., got {scheme}://")
    return bool(found)


def _module(name: str) -> ModuleType:
    """A module of PostgreSQL's."""
    try:
        return import_module(f"tacit.collector.storage.{name}")
    except ImportError as error:
        raise RequestError(
            f"A PostgreSQL store is not available ({error}). Run pip install "
            "'tacit-recommender[postgres]'."
        ) from None
