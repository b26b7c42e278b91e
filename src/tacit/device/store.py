"""Device store: all data of one user, in one file that survives a crash at any point.

SQLite, in memory and in a file that is complete at every moment: a plain copy of it, at any time,
has a ledger that covers every report sent so far. A transaction is on disk before it returns, one
process has the file at a time, and other users cannot read it. Its tables:

    person     one row: the secret; spent and limit in nano-epsilon
    provider   by place: the current task, the newest item model, and when to retry
    task       one row per origin and question: the last document, where its reports go,
               and the address of the task under which names are made
    rating     the user's true ratings: level numbers by task and place
    answer     one symbol for each (task, channel, place, row), drawn once
    last       the last reported row for each (task, channel, place), and its report
    report     every id that was ever made; its bytes until they are acknowledged
    erasure    erasure keys, until the provider confirms the erasure
    chain      the channel of each task that is answered block by block, once its limit is reserved
    block      one symbol for each (task, generation, place) of such a task, drawn once
    shuffled   every shuffled task that was answered; the sealed bundle until it is acknowledged
    register   by shuffler: SHA-256 of the last line of its register

Upgrade of a store from the format before tacit-task-2, in the transaction that opens it.

Ratings, answers, reports and the ledger are unchanged. Every task in such a store is a
tacit-task-1: its question and its names are those of its address, and it belongs to the last
provider that sent it.
"""

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from secrets import token_bytes
from typing import Any

from tacit.device.database_file import DatabaseFile
from tacit.errors import DataError, RequestError
from tacit.privacy.ledger import Ledger, nats
from tacit.scale import shortest
from tacit.sqlite_checks import check_all_rows, check_tables
from tacit.wire.origin import origin_of, place_of
from tacit.wire.report import SECRET_BYTES
from tacit.wire.task import Task, loads

FORMER, BEFORE_BLOCKS = 0x7AC17002, 0x7AC17003
"""Formats that are upgraded: before tacit-task-2, and before tasks that are answered by block and
shuffled tasks."""


def upgrade(db: sqlite3.Connection, tasks: str, erasures: str) -> None:
    """Upgrade inside a transaction, so that a crash leaves either format.

    `tasks`: statement that creates the table of tasks, with a placeholder `name`. `erasures`:
    statement that creates the table of erasures.
    """
    db.execute(erasures)
    db.execute(tasks.format(name="made"))
    copied = "INSERT INTO made VALUES (?1, ?2, ?3, ?2, ?2, ?4, ?5)"
    for number, address, url, document in db.execute(
        "SELECT number, address, provider, document FROM task"
    ).fetchall():
        origin, location = _normalized(url)
        db.execute(copied, (number, address, origin, location, document))
    db.execute("DROP TABLE task")
    db.execute("ALTER TABLE made RENAME TO task")
    _normalize_urls(db)


def _normalize_urls(db: sqlite3.Connection) -> None:
    """Merge the rows of a place: of two spellings the longer wait and the later task are used."""
    rows = db.execute(
        "SELECT url, task, failures, not_before, model, model_document FROM provider"
        " ORDER BY task DESC"
    ).fetchall()
    db.execute("DELETE FROM provider")
    for url, *rest in rows:
        db.execute(
            "INSERT INTO provider VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET"
            " failures = max(failures, excluded.failures),"
            " not_before = max(not_before, excluded.not_before)",
            (_normalized(url)[1], *rest),
        )


def _normalized(url: str) -> tuple[str, str]:
    """Return origin and place of a URL; the URL itself if it is invalid (and was never called)."""
    try:
        return origin_of(url), place_of(url)
    except RequestError:
        return url, url


MEMORY = ":memory:"
"""Path of a store that is deleted with its process, for simulated users."""
FORMAT = 0x7AC17004
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
"""
UNWRITTEN = "{} cannot be read or written ({}); no report was drawn or sent."
SOUND_PERSON = f"SELECT 1 FROM person WHERE spent >= 0 AND length(secret) = {SECRET_BYTES}"
FORGOTTEN = ("rating", "answer", "last", "report", "block", "chain", "task")


class Store:
    """One user's file, open in this process alone; `:memory:` for simulated users.

    Related statements go through `transaction`. `limit`: the lifetime budget, in nano-epsilon, from
    now on. Raises `RequestError` if the file is open elsewhere, `DataError` if it is not a store.
    """

    def __init__(self, path: str | os.PathLike[str], limit: int) -> None:
        name = os.fspath(path)
        self._process = os.getpid()
        self._file: DatabaseFile | None = None
        self._db, self._is_closed = sqlite3.connect(MEMORY, isolation_level=None), False
        self._db.text_factory = _text
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
        """Close the file."""
        self._db.close()
        self._is_closed = True
        if self._file is not None:
            self._file.close()

    @property
    def db(self) -> sqlite3.Connection:
        """The connection. Raises `RequestError` after `close`."""
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
    """Decode text of a file; damaged text equals no valid text."""
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


# Validation of the rows stored for a task: items, levels, channels, symbols.


def check_rows(db: sqlite3.Connection, number: int, task: Task) -> None:
    """Raise `DataError` if a row of the task with this number has an index outside of the task."""
    for table, column, condition, bound in _bounds(task):
        outside = f"{condition} AND {column} NOT BETWEEN 0 AND {bound - 1}"
        query = f"SELECT 1 FROM {table} WHERE task = ? AND {outside} LIMIT 1"
        if db.execute(query, (number,)).fetchone():
            # The message has no value: it may be logged.
            raise DataError(
                f"The store is damaged: {table}.{column} must be from 0 to {bound - 1} in the task "
                f"{task.address}; restore a backup."
            )


def _bounds(task: Task) -> Iterator[tuple[str, str, str, int]]:
    """Yield table, column, condition, and number of values."""
    n_items, levels = len(task.items), task.scale.n_levels
    yield from (("rating", "place", "1", n_items), ("rating", "level", "1", levels))
    for table in ("answer", "last", "block"):
        yield table, "place", "1", n_items
        yield table, "row", "1", levels + task.hides_presence
    for table in ("answer", "last", "chain"):
        yield table, "channel", "1", len(task.channels)
    yield "block", "generation", "1", 1 if task.growth is None else task.growth.generations
    for index, channel in enumerate(task.channels):
        yield "answer", "symbol", f"channel = {index}", len(channel.outputs)
        chosen = f"{index} = (SELECT channel FROM chain WHERE chain.task = block.task)"
        yield "block", "symbol", chosen, len(channel.outputs)


# Export of a store's data about its user.


def export(store: Store) -> dict[str, Any]:
    """Return ratings, drawn answers and epsilon spent as JSON values, without the secret.

    The export does not allow to report in the user's name: it has no pseudonym, no token and no
    report bytes. An answer is (item, value it was drawn for, epsilon, symbol), a last report (item,
    value, epsilon); the value is None where the item was unrated. Only the provider can open the
    bundle of a shuffled task, so the export has the address alone.
    """
    ledger = store.ledger
    answered = [
        {"task": address, "waiting": bundle is not None}
        for address, bundle in store.db.execute(
            "SELECT address, bundle FROM shuffled ORDER BY address"
        )
    ]
    met = store.db.execute("SELECT number, address, document FROM task ORDER BY number").fetchall()
    return {
        "spent": nats(ledger.spent),
        "lifetime": nats(ledger.limit),
        "tasks": [
            _task(store, number, loads(document, address)) for number, address, document in met
        ],
        **({"shuffled": answered} if answered else {}),
    }


def _task(store: Store, number: int, task: Task) -> dict[str, Any]:
    check_rows(store.db, number, task)
    levels = [shortest(level) for level in task.scale.levels]
    values = [None, *levels] if task.hides_presence else levels
    epsilons = [channel.epsilon for channel in task.channels]
    blocks = "FROM block JOIN chain USING (task) WHERE task = ?1"
    answers = (
        "SELECT place, row, channel, symbol FROM answer WHERE task = ?1 UNION ALL"
        f" SELECT place, row, channel, symbol {blocks} ORDER BY place, row"
    )
    last = (
        "SELECT place, row, channel FROM last WHERE task = ?1 UNION ALL SELECT place, row, channel"
        f" {blocks} GROUP BY place HAVING generation = max(generation) ORDER BY place, channel"
    )
    reports = "SELECT epoch, document FROM report WHERE task = ? ORDER BY epoch, place"
    return {
        "task": task.address,
        "name": task.name,
        "ratings": [
            (task.items[index], levels[level])
            for index, level in sorted(store.ratings(number).items())
        ],
        "answers": [
            (task.items[index], values[row], epsilons[channel], symbol)
            for index, row, channel, symbol in store.db.execute(answers, (number,)).fetchall()
        ],
        "reported": [
            (task.items[index], values[row], epsilons[channel])
            for index, row, channel in store.db.execute(last, (number,)).fetchall()
        ],
        "reports": [
            {"epoch": epoch, "waiting": document is not None}
            for epoch, document in store.db.execute(reports, (number,))
        ],
    }
