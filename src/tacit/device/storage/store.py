"""Device store: all data of one user, in one file that survives a crash at any point.

SQLite, in memory and in a file that is complete at every moment: a plain copy of it, at any time,
has a ledger that covers every report sent so far. A transaction is on disk before it returns, one
process has the file at a time, and other users cannot read it. Its tables:

    person     one row: the secret; spent and limit in nano-epsilon
    provider   by place: the current task, the newest item model, and when to retry
    task       one row per question and first origin of its provider: the last document, the
               place that its reports go to, and the task under which names are made
    rating     the user's true ratings: level numbers by task and place
    answer     one symbol for each (task, channel, place, row), drawn once
    last       the last reported row for each (task, channel, place), and its report
    report     every id that was ever made; its bytes until they are acknowledged
    erasure    erasure keys, until the provider confirms the erasure
    chain      the channel of each task that is answered block by block, once its limit is reserved
    block      one symbol for each (task, generation, place) of such a task, drawn once
    shuffled   every shuffled task that was answered; the sealed bundle until it is acknowledged
    register   by shuffler: SHA-256 of the last line of its register
    token      the one-time token of a shuffled task until its bundle is drawn: what was blinded,
               until it is signed; then the signature, and when the bundle may be sent
"""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from secrets import token_bytes
from typing import Any

from tacit.device.storage.database_file import DatabaseFile
from tacit.device.storage.upgrade import BEFORE_BLOCKS, BEFORE_TOKENS, FORMER, upgrade
from tacit.errors import DataError, RequestError
from tacit.errors import path as given_path
from tacit.privacy.ledger import Ledger
from tacit.sqlite_checks import check_all_rows, check_tables
from tacit.wire.report import SECRET_BYTES
from tacit.wire.strict import brief

MEMORY = ":memory:"
"""Path of a store that is deleted with its process, for simulated users."""
FORMAT = 0x7AC17005
TASKS = """CREATE TABLE {name} (
    number INTEGER PRIMARY KEY, question TEXT NOT NULL, origin TEXT NOT NULL, named TEXT NOT NULL,
    address TEXT NOT NULL, provider TEXT NOT NULL, document BLOB NOT NULL,
    UNIQUE (question, origin))"""
ERASURES = """CREATE TABLE erasure (
    key BLOB PRIMARY KEY, origin TEXT NOT NULL, task TEXT NOT NULL) WITHOUT ROWID"""
BLOCKS = """
CREATE TABLE chain (task INTEGER PRIMARY KEY REFERENCES task, channel INTEGER NOT NULL);
CREATE TABLE block (
    task INTEGER REFERENCES chain, generation INTEGER, place INTEGER, row INTEGER NOT NULL,
    symbol INTEGER NOT NULL, PRIMARY KEY (task, generation, place)) WITHOUT ROWID"""
SHUFFLED = """CREATE TABLE shuffled (
    address TEXT PRIMARY KEY, document BLOB NOT NULL, first TEXT, bundle BLOB) WITHOUT ROWID"""
TOKENS = """CREATE TABLE token (
    address TEXT PRIMARY KEY, token BLOB NOT NULL, message BLOB NOT NULL, inverse BLOB NOT NULL,
    signature BLOB, due REAL) WITHOUT ROWID"""
REGISTER = "CREATE TABLE register (url TEXT PRIMARY KEY, head TEXT NOT NULL) WITHOUT ROWID"

SCHEMA = f"""
CREATE TABLE person (
    one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL,
    spent INTEGER NOT NULL, most INTEGER NOT NULL);
{TASKS.format(name="task")};
CREATE TABLE provider (
    url TEXT PRIMARY KEY, task INTEGER REFERENCES task, failures INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0, model TEXT, model_document BLOB);
CREATE TABLE rating (
    task INTEGER REFERENCES task, place INTEGER, level INTEGER NOT NULL,
    PRIMARY KEY (task, place)) WITHOUT ROWID;
CREATE TABLE answer (
    task INTEGER REFERENCES task, channel INTEGER, place INTEGER, row INTEGER,
    symbol INTEGER NOT NULL, PRIMARY KEY (task, channel, place, row)) WITHOUT ROWID;
CREATE TABLE last (
    task INTEGER REFERENCES task, channel INTEGER, place INTEGER, row INTEGER NOT NULL,
    report TEXT NOT NULL, PRIMARY KEY (task, channel, place)) WITHOUT ROWID;
CREATE TABLE report (
    id TEXT PRIMARY KEY, task INTEGER NOT NULL REFERENCES task, epoch INTEGER NOT NULL,
    place INTEGER, document BLOB);
CREATE INDEX waiting ON report (task, epoch, place) WHERE document IS NOT NULL;
{ERASURES};
{BLOCKS};
{SHUFFLED};
{REGISTER};
{TOKENS};
"""
UNWRITTEN = "{} cannot be read or written ({}); no report was drawn or sent."
SOUND_PERSON = f"SELECT 1 FROM person WHERE spent >= 0 AND length(secret) = {SECRET_BYTES}"
FORGOTTEN = ("rating", "answer", "last", "report", "block", "chain", "task", "token")


class Store:
    """One user's file, open in this process alone; `:memory:` for simulated users.

    Related statements go through `transaction`. `limit`: the lifetime budget, in nano-epsilon, from
    now on. Raises `RequestError` if the file is open elsewhere or cannot be created, and
    `DataError` if it is not a store.
    """

    def __init__(self, path: str | os.PathLike[str], limit: int) -> None:
        name = str(given_path(path))
        self._process = os.getpid()
        self._file: DatabaseFile | None = None
        self._db = sqlite3.connect(MEMORY, isolation_level=None)
        self._is_closed, self._is_saved = False, True
        self._db.text_factory = _text
        try:
            self._file = None if name == MEMORY else DatabaseFile(name)
            self._open(limit)
        except sqlite3.Error as error:
            self.close()
            raise _sentence(error, name) from None
        except OSError as error:
            self.close()
            raise RequestError(UNWRITTEN.format(name, error.strerror)) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()
        self._is_closed = True
        if self._file is not None:
            self._file.close()

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, with the content of the file.

        Raises `RequestError` after `close`, and `sqlite3.Error` if the file cannot be read after an
        interrupted write.
        """
        if not self._is_saved:
            self._discard()
        if self._is_closed:
            raise RequestError("The device is closed; open its store again.")
        return self._db

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Run an atomic transaction, on disk when it ends.

        Raises `RequestError` in a forked child, which has a copy of the open file but no lock.
        """
        if os.getpid() != self._process:
            raise RequestError("This store was opened before a fork; open it in one process only.")
        before = self._changes
        try:
            self.db.execute("BEGIN IMMEDIATE")
            yield
            is_changed = self._changes != before
            # Before the commit: an interrupt after it must not leave draws that no file has.
            self._is_saved = not is_changed
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise _sentence(error, "the store") from None
        finally:
            if not self._is_closed and self._db.in_transaction:
                self._db.execute("ROLLBACK")
                self._is_saved = True
        if is_changed:
            self._save()

    @property
    def secret(self) -> bytes:
        """32 random bytes that pseudonyms derive from; never shown."""
        return self._person("secret")

    @property
    def ledger(self) -> Ledger:
        """Epsilon spent, and the limit."""
        return Ledger(self._person("most"), self._person("spent"))

    def spend(self, ledger: Ledger) -> None:
        """Store the epsilon spent; inside the transaction of the draws."""
        self.db.execute("UPDATE person SET spent = ?", (ledger.spent,))

    def ratings(self, task: int) -> dict[int, int]:
        """Return the user's level numbers by item index, for the task of that number."""
        return dict(self.db.execute("SELECT place, level FROM rating WHERE task = ?", (task,)))

    def rate(self, task: int, index: int, level: int | None) -> None:
        """Store a rating, or delete it (None)."""
        with self.transaction():
            self.db.execute("DELETE FROM rating WHERE task = ? AND place = ?", (task, index))
            if level is not None:
                self.db.execute("INSERT INTO rating VALUES (?, ?, ?)", (task, index, level))

    def reserved(self, task: int) -> int | None:
        """Return the index of the channel for which the limit of a task by block is reserved."""
        query = "SELECT channel FROM chain WHERE task = ?"
        row = self.db.execute(query, (task,)).fetchone()
        return row and row[0]

    def forget(self) -> None:
        """Delete everything but the epsilon spent and pending erasures; inside a transaction.

        Retry times of providers with pending erasures are kept. So are shuffled tasks without their
        bundles: a second bundle would be another one of the same person.
        """
        for table in FORGOTTEN:
            self.db.execute(f"DELETE FROM {table}")
        self.db.execute("UPDATE shuffled SET bundle = NULL")
        self.db.execute("UPDATE provider SET task = NULL, model = NULL, model_document = NULL")
        self.db.execute(
            "DELETE FROM provider WHERE NOT EXISTS (SELECT 1 FROM erasure"
            " WHERE substr(url || '/', 1, length(origin) + 1) = origin || '/')"
        )
        self.db.execute("UPDATE person SET secret = ?", (token_bytes(SECRET_BYTES),))

    def scrub(self) -> None:
        """Remove all traces of deleted data from the file."""
        self.db.execute("VACUUM")
        self._save()

    def _open(self, limit: int) -> None:
        known = self._file is not None and self._file.load(self.db)
        self.db.execute("PRAGMA secure_delete = ON")
        with self.transaction():
            self._check() if known else self._make(limit)
            self.db.execute("UPDATE person SET most = ?", (limit,))

    def _check(self) -> None:
        """Check the loaded database, and upgrade it. Raises `sqlite3.Error`."""
        check_all_rows(self.db)
        (version,) = self.db.execute("PRAGMA user_version").fetchone()
        if version == FORMER:
            upgrade(self.db, TASKS, ERASURES)
        if version in (FORMER, BEFORE_BLOCKS):
            for statement in (*BLOCKS.split(";"), SHUFFLED, REGISTER):
                self.db.execute(statement)
        if version in (FORMER, BEFORE_BLOCKS, BEFORE_TOKENS):
            self.db.execute(TOKENS)
            self.db.execute(f"PRAGMA user_version = {FORMAT}")
        elif version != FORMAT:
            raise sqlite3.DatabaseError("another format")
        check_tables(self.db, SCHEMA)
        if not self.db.execute(SOUND_PERSON).fetchone():
            raise sqlite3.DatabaseError("its row in the person table is missing or damaged")

    def _make(self, limit: int) -> None:
        for statement in SCHEMA.split(";"):
            self.db.execute(statement)
        row = (token_bytes(SECRET_BYTES), limit)
        self.db.execute("INSERT INTO person VALUES (1, ?, 0, ?)", row)
        self.db.execute(f"PRAGMA user_version = {FORMAT}")

    @property
    def _changes(self) -> int:
        return self.db.execute("SELECT total_changes()").fetchone()[0]

    def _save(self) -> None:
        """Write committed data to disk, or discard it if that fails.

        Later draws must start from the content of the file.
        """
        try:
            if self._file is not None:
                self._file.save(self._db)
        except BaseException as error:
            self._discard()
            if isinstance(error, OSError | sqlite3.Error):
                raise DataError(UNWRITTEN.format("The store", error)) from None
            raise
        self._is_saved = True

    def _discard(self) -> None:
        """Return to the content of the file, or close the store without one that can be read.

        Nothing is sent that is in memory alone: its debit would not survive a crash.
        """
        is_read = False
        try:
            is_read = self._file is None or self._file.load(self._db)
        finally:
            self._is_saved = True
            if not is_read:
                self.close()

    def _person(self, column: str) -> Any:
        return self.db.execute(f"SELECT {column} FROM person").fetchone()[0]


def _text(data: bytes) -> str:
    """Decode text of a file; damaged text equals no valid text."""
    return data.decode(errors="replace")


def _sentence(error: sqlite3.Error, name: str) -> DataError | RequestError:
    text = brief(error, 100)
    if "locked" in text:
        return RequestError(
            f"{name} is in use by another process; only one process can use a store at a time."
        )
    if isinstance(error, sqlite3.OperationalError):
        return DataError(UNWRITTEN.format(name, text))
    return DataError(
        f"{name} is damaged or not a store of this version ({text}); restore a backup, or name "
        "another file."
    )
