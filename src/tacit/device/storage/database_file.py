"""Database in memory, written to one file that is replaced by a rename.

SQLite's journals store part of the committed data in a second file: a copy of one of the two is
incomplete. Here the file at the path is complete at any time, before and after a crash, and a plain
copy of it is a backup. While it is open there is an empty lock file next to it.
"""

import os
import sqlite3
import sys
from contextlib import closing, suppress

from tacit.errors import DataError

LOCK, PART = "-lock", "-new"
"""Suffixes of the lock file, and of an incomplete copy, which the next write replaces."""


class DatabaseFile:
    """The file at `path`, locked against other processes until `close`.

    Raises `sqlite3.OperationalError` if another process has locked it, `OSError` if the folder is
    not writable.
    """

    def __init__(self, path: str) -> None:
        # A rename would replace a symbolic link, so resolve it.
        self._path, self._process = os.path.realpath(path), os.getpid()
        self._lock = _locked(self._path + LOCK)

    def close(self) -> None:
        """Release the lock, and remove its file if the system allows it.

        In a forked child, which has no lock, its file remains: without it, another process could
        open the store that the parent has open.
        """
        if os.getpid() == self._process:
            with suppress(OSError):
                os.unlink(self._path + LOCK)
        self._lock.close()

    def load(self, db: sqlite3.Connection) -> bool:
        """Copy the file into `db`, a database in memory; False if the file does not exist.

        A log or journal of an older version is merged into the file first. Raises `DataError` for a
        file without tables: its content is lost, and a new store would forget the epsilon spent.
        Raises `sqlite3.Error` for other files.
        """
        if not os.path.exists(self._path):
            return False
        _sync_folder(os.path.dirname(self._path))  # what is read survives a power failure
        if os.path.getsize(self._path) == 0:
            raise DataError(_without_tables(self._path, "it has 0 bytes"))
        try:
            self._copy(db)
        except UnicodeDecodeError:  # SQLite repeats names of a damaged schema in its messages
            raise sqlite3.DatabaseError("its schema is damaged") from None
        return True

    def _copy(self, db: sqlite3.Connection) -> None:
        with closing(sqlite3.connect(self._path, timeout=0, isolation_level=None)) as file:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            file.execute("PRAGMA journal_mode = DELETE")
            if not file.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise DataError(_without_tables(self._path, f"its log {self._path}-wal is missing"))
            file.backup(db)

    def save(self, db: sqlite3.Connection) -> None:
        """Replace the file by the content of `db`, atomically and durably.

        Raises `OSError` or `sqlite3.Error` if it cannot be written; the file is unchanged then.
        """
        part = self._path + PART
        _make_private(part)
        os.truncate(part, 0)
        with closing(sqlite3.connect(part, timeout=0, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = OFF")
            copy.execute("PRAGMA synchronous = FULL")
            copy.execute("PRAGMA fullfsync = ON")
            db.backup(copy)
        os.replace(part, self._path)
        _sync_folder(os.path.dirname(self._path))


def _locked(path: str) -> sqlite3.Connection:
    """Lock a file through SQLite, which works on every system."""
    while True:
        _make_private(path)
        lock = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            lock.execute("PRAGMA journal_mode = MEMORY")  # avoids an empty journal file
            lock.execute("BEGIN EXCLUSIVE")
            if _is_locked(path):
                return lock
        except BaseException:
            lock.close()
            raise
        # The previous owner has removed the file that this connection opened.
        lock.close()


def _is_locked(path: str) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as second:
        try:
            second.execute("PRAGMA journal_mode = MEMORY")
            second.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        return False


def _make_private(path: str) -> None:
    """Create the file for its owner alone, or restrict its permissions.

    An existing file is not opened: closing it would release a lock that this process may hold on
    it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    os.chmod(path, 0o600)


def _sync_folder(folder: str) -> None:
    """Make a rename durable, where folders can be opened."""
    if sys.platform != "win32":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _without_tables(path: str, why: str) -> str:
    return (
        f"{path} is a store without tables: {why}. Restore a complete backup, or delete the file "
        "to start as a new user with an empty ledger."
    )
