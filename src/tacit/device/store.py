"""The store: all that a device keeps of one person, in one file that survives a crash at any point.

SQLite, in memory and in a file that is complete at every moment: a plain copy of it, whenever it is
made, has a ledger that covers every report sent so far. A transaction is on disk before it returns,
one process has the file at a time, and nobody else may read it. In words, table by table:

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
from collections.abc import Generator
from contextlib import contextmanager
from secrets import token_bytes
from typing import Any

from tacit.device import upgrade
from tacit.device.database_file import DatabaseFile
from tacit.errors import DataError, RequestError
from tacit.privacy.ledger import Ledger
from tacit.sqlite_checks import check_all_rows, check_tables
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
UNWRITTEN = "{} cannot be read or written ({}); nothing was drawn or sent."
SOUND_PERSON = f"SELECT 1 FROM person WHERE spent >= 0 AND length(secret) = {SECRET_BYTES}"
FORGOTTEN = ("rating", "answer", "last", "report", "task")


class Store:
    """One person's file, open in this process alone; `:memory:` for simulated people.

    `db`: the connection; statements that belong together go through `transaction`. `limit`: what
    the person may spend in their life, in nano-epsilon, as it holds from now on. Raises
    `RequestError` when the file is open elsewhere, `DataError` when it is no store.
    """

    def __init__(self, path: str | os.PathLike[str], limit: int) -> None:
        name = os.fspath(path)
        self._process = os.getpid()
        self._file: DatabaseFile | None = None
        self.db = sqlite3.connect(MEMORY, isolation_level=None)
        self.db.text_factory = _text
        try:
            self._file = None if name == MEMORY else DatabaseFile(name)
            self._open(limit)
        except sqlite3.Error as error:
            self.close()
            raise _sentence(error, name) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()
        if self._file is not None:
            self._file.close()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All that is done inside, or nothing; on disk when it ends.

        Raises `RequestError` in a forked child: it has a copy of what was open, but no lock.
        """
        if os.getpid() != self._process:
            raise RequestError("This store was opened before a fork; open it in one process only.")
        before = self._changes
        try:
            self.db.execute("BEGIN IMMEDIATE")
            yield
            self.db.execute("COMMIT")
        except sqlite3.Error as error:
            raise _sentence(error, "the store") from None
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
        if self._changes != before:
            self._save()

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
        self._save()

    def _open(self, limit: int) -> None:
        known = self._file is not None and self._file.load(self.db)
        self.db.execute("PRAGMA secure_delete = ON")
        with self.transaction():
            self._check() if known else self._make(limit)
            self.db.execute("UPDATE person SET most = ?", (limit,))

    def _check(self) -> None:
        """Check what was loaded, and upgrade it; raises `sqlite3.Error`."""
        check_all_rows(self.db)
        (found,) = self.db.execute("PRAGMA user_version").fetchone()
        if found == upgrade.FORMER:
            upgrade.upgrade(self.db, TASKS, ERASURES)
            self.db.execute(f"PRAGMA user_version = {FORMAT}")
        elif found != FORMAT:
            raise sqlite3.DatabaseError("another format")
        check_tables(self.db, SCHEMA)
        if not self.db.execute(SOUND_PERSON).fetchone():
            raise sqlite3.DatabaseError("its row of person is missing or damaged")

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
        """Put what was committed on disk. Where that fails it is forgotten: what is drawn from
        here on must start from what the file has."""
        if self._file is None:
            return
        try:
            self._file.save(self.db)
        except (OSError, sqlite3.Error) as error:
            self._reload(self._file)
            raise DataError(UNWRITTEN.format("The store", error)) from None

    def _reload(self, file: DatabaseFile) -> None:
        try:
            file.load(self.db)
        except BaseException:
            self.db.close()
            raise

    def _person(self, column: str) -> Any:
        return self.db.execute(f"SELECT {column} FROM person").fetchone()[0]


def _text(data: bytes) -> str:
    """Decode text of a file that may be damaged, in which case it equals no valid text."""
    return data.decode(errors="replace")


def _sentence(error: sqlite3.Error, name: str) -> DataError | RequestError:
    text = str(error)
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
