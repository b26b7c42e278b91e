"""The store: all that a device keeps of one person, in one file that survives a crash at any point.

SQLite. A commit is on disk before it returns, one process has the file at a time, and nobody else
may read it. In words, table by table:

    person     one row: the secret; spent and limit in nano-epsilon
    provider   by place: the task answered last, the newest item model, and since when not to call
    task       what each origin asks, once a question: the document met last, where its reports go,
               and the address of the task under which names are made
    rating     the person's true ratings: level numbers by task and place
    answer     one symbol for each (task, channel, place, row), drawn once and for ever
    last       the row that was reported last for each (task, channel, place), and in which report
    report     every id that was ever made; its bytes, as long as nobody acknowledged them
    erasure    keys that survive erasing, until the provider has said that it erased
"""

import os
import sqlite3
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from secrets import token_bytes
from typing import Any

from tacit.device import upgrade
from tacit.errors import DataError, RequestError
from tacit.privacy.ledger import Ledger
from tacit.wire.pseudonym import SECRET_BYTES

MEMORY = ":memory:"
"""The path of a store that is gone with its process, for simulated people."""
FORMAT = 0x7AC17003
TASKS = """CREATE TABLE {name} (
    number INTEGER PRIMARY KEY, question TEXT NOT NULL, origin TEXT NOT NULL, named TEXT NOT NULL,
    address TEXT NOT NULL, provider TEXT NOT NULL, document BLOB NOT NULL,
    UNIQUE (question, origin))"""
ERASURES = """CREATE TABLE erasure (
    key BLOB PRIMARY KEY, origin TEXT NOT NULL, task TEXT NOT NULL) WITHOUT ROWID"""

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
"""
FORGOTTEN = ("rating", "answer", "last", "report", "task")


class Store:
    """One person's file, open in this process alone; `:memory:` for simulated people.

    `db`: the connection; statements that belong together go through `transaction`. `limit`: what
    the person may spend in their life, in nano-epsilon, as it holds from now on. Raises
    `RequestError` when the file is open elsewhere, `DataError` when it is no store.
    """

    def __init__(self, path: str | os.PathLike[str], limit: int) -> None:
        name = os.fspath(path)
        if name != MEMORY:
            _make_private(name)
        self._process = os.getpid()
        self.db = sqlite3.connect(name, timeout=0, isolation_level=None)
        try:
            self._open(limit, new=name == MEMORY or os.path.getsize(name) == 0)
        except sqlite3.Error as error:
            self.db.close()
            raise _sentence(error, name) from None

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All that is done inside, or nothing; on disk when it ends.

        Raises `RequestError` in a forked child: it has a copy of what was open, but no lock.
        """
        if os.getpid() != self._process:
            raise RequestError("This store was opened before a fork; open it in one process.")
        try:
            self.db.execute("BEGIN IMMEDIATE")
            yield
            self.db.execute("COMMIT")
            self._checkpoint()
        except sqlite3.Error as error:
            raise _sentence(error, "the store") from None
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    @property
    def secret(self) -> bytes:
        """32 random bytes behind the names of the person; never shown."""
        return self._person("secret")

    @property
    def ledger(self) -> Ledger:
        """What is spent of the limit."""
        return Ledger(self._person("most"), self._person("spent"))

    def spend(self, ledger: Ledger) -> None:
        """Write down what is spent now; inside of the transaction of the draws."""
        self.db.execute("UPDATE person SET spent = ?", (ledger.spent,))

    def ratings(self, task: int) -> dict[int, int]:
        """The person's level numbers by place, for the task of that number."""
        return dict(self.db.execute("SELECT place, level FROM rating WHERE task = ?", (task,)))

    def rate(self, task: int, place: int, level: int | None) -> None:
        """Keep a rating, or forget it (None)."""
        with self.transaction():
            self.db.execute("DELETE FROM rating WHERE task = ? AND place = ?", (task, place))
            if level is not None:
                self.db.execute("INSERT INTO rating VALUES (?, ?, ?)", (task, place, level))

    def forget(self) -> None:
        """Forget all but the sum spent and the erasures that wait; inside of a transaction.

        Where an erasure waits, so does what the provider said about when to call it.
        """
        for table in FORGOTTEN:
            self.db.execute(f"DELETE FROM {table}")
        self.db.execute("UPDATE provider SET task = NULL, model = NULL, model_document = NULL")
        self.db.execute(
            "DELETE FROM provider WHERE NOT EXISTS (SELECT 1 FROM erasure"
            " WHERE substr(url || '/', 1, length(origin) + 1) = origin || '/')"
        )
        self.db.execute("UPDATE person SET secret = ?", (token_bytes(SECRET_BYTES),))

    def scrub(self) -> None:
        """Leave no trace in the file of what was forgotten."""
        self.db.execute("VACUUM")
        self._checkpoint()

    def _open(self, limit: int, *, new: bool) -> None:
        # Held until closed: two processes that drew for one slot would draw twice.
        self.db.execute("PRAGMA locking_mode = EXCLUSIVE")
        if new:  # before there is a log, so that a store without tables has never existed
            with self.transaction():
                self._make(limit)
        self.db.execute("PRAGMA journal_mode = WAL")
        # A report may leave only after its answers are on disk, or a power cut draws them anew.
        # EXTRA is FULL, and holds where the file system has no write-ahead log, too.
        self.db.execute("PRAGMA synchronous = EXTRA")
        self.db.execute("PRAGMA fullfsync = ON")
        self.db.execute("PRAGMA secure_delete = ON")
        with self.transaction():
            (found,) = self.db.execute("PRAGMA user_version").fetchone()
            if found == 0 and not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise sqlite3.DatabaseError("its content is missing, as of a copy without its -wal")
            if found == upgrade.FORMER:
                upgrade.upgrade(self.db, TASKS, ERASURES)
                self.db.execute(f"PRAGMA user_version = {FORMAT}")
            elif found != FORMAT:
                raise sqlite3.DatabaseError("another format")
            self.db.execute("UPDATE person SET most = ?", (limit,))

    def _checkpoint(self) -> None:
        """Move what is committed from the log into the file.

        Nothing is sent before this returns. So a copy of the file alone, at any moment, has a
        ledger of at least what was sent.
        """
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _make(self, limit: int) -> None:
        for statement in SCHEMA.split(";"):
            self.db.execute(statement)
        row = (token_bytes(SECRET_BYTES), limit)
        self.db.execute("INSERT INTO person VALUES (1, ?, 0, ?)", row)
        self.db.execute(f"PRAGMA user_version = {FORMAT}")

    def _person(self, column: str) -> Any:
        return self.db.execute(f"SELECT {column} FROM person").fetchone()[0]


def _make_private(name: str) -> None:
    """Create the file for its owner alone, or make it so. An existing file is not opened: closing
    it would drop the lock that this process may hold on it."""
    with suppress(FileExistsError):
        os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if stat.S_IMODE(os.stat(name).st_mode) & 0o077:
        os.chmod(name, 0o600)


def _sentence(error: sqlite3.Error, name: str) -> DataError | RequestError:
    text = str(error)
    if "locked" in text:
        return RequestError(f"{name} is in use by another process; a store has one at a time.")
    if isinstance(error, sqlite3.OperationalError):
        return DataError(f"{name} cannot be read or written ({text}); nothing was drawn or sent.")
    return DataError(f"{name} is no store of this version ({text}); name another file.")
