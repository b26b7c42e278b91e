"""A database held in memory and written to one file, which a single rename replaces.

SQLite's own journals put half of what was committed into a second file: a copy of one of the two
has lost the other half. Here the file at the path is complete at every moment, before and after a
crash, and a plain copy of it is a backup. While it is open an empty lock file lies beside it.
"""

import os
import sqlite3
import sys
from contextlib import closing, suppress

from tacit.errors import DataError

LOCK, PART = "-lock", "-new"
"""Endings of the lock file, and of a copy that is being written; the next write replaces it."""


class DatabaseFile:
    """The file at `path`, locked against other processes until `close`.

    Raises `sqlite3.OperationalError` where another process has it, `OSError` where the folder
    cannot be written.
    """

    def __init__(self, path: str) -> None:
        # A rename replaces a symbolic link, so it goes to what the link names.
        self._path = os.path.realpath(path)
        self._lock = _locked(self._path + LOCK)

    def close(self) -> None:
        """Release the lock, and remove its file where the system allows it."""
        with suppress(OSError):
            os.unlink(self._path + LOCK)
        self._lock.close()

    def load(self, db: sqlite3.Connection) -> bool:
        """Copy the file into `db`, a database in memory; false where there is no file.

        A log or journal that an older version left is merged into the file first. Raises
        `DataError` for a file without tables: whatever was in it is lost, and a new store in its
        place would forget what was spent. Raises `sqlite3.Error` for what is no database.
        """
        if not os.path.exists(self._path):
            return False
        if os.path.getsize(self._path) == 0:
            raise DataError(_without_tables(self._path, "it has 0 bytes"))
        with closing(sqlite3.connect(self._path, timeout=0, isolation_level=None)) as file:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            file.execute("PRAGMA journal_mode = DELETE")
            if not file.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise DataError(_without_tables(self._path, f"its log {self._path}-wal is missing"))
            file.backup(db)
        return True

    def save(self, db: sqlite3.Connection) -> None:
        """Replace the file by the content of `db`: on disk when this returns, or not at all.

        Raises `OSError` or `sqlite3.Error` where it cannot be written; the file is as it was.
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
    """Lock a file through SQLite, which does so on every system."""
    while True:
        _make_private(path)
        lock = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            lock.execute("PRAGMA journal_mode = MEMORY")  # or an empty journal lies beside it
            lock.execute("BEGIN EXCLUSIVE")
            if _is_locked(path):
                return lock
        except BaseException:
            lock.close()
            raise
        # Whoever held it has removed the file that this connection opened.
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
    """Create the file for its owner alone, or make it so. An existing file is not opened: closing
    it would drop the lock that this process may hold on it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    os.chmod(path, 0o600)


def _sync_folder(folder: str) -> None:
    """Put a rename on disk, where folders can be opened."""
    if sys.platform != "win32":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _without_tables(path: str, why: str) -> str:
    return (
        f"{path} is a store without content: {why}. Restore a backup with all of its files; to "
        "start again as a new person, with nothing on the ledger, delete the file."
    )
