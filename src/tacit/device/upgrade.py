"""A store of the format before tacit-task-2, brought to today's in the transaction that opens it.

Ratings, answers, reports and the ledger stay as they are, row by row. Every task in such a store is
a tacit-task-1: its question and its names are those of its own address, and it belongs to the
provider that asked it last.
"""

import sqlite3

from tacit.errors import RequestError
from tacit.wire.origin import origin_of, place_of

FORMER = 0x7AC17002


def upgrade(db: sqlite3.Connection, tasks: str, erasures: str) -> None:
    """Inside of a transaction, so that a crash leaves the one format or the other.

    `tasks`: the statement that makes the table of tasks, under a `name`. `erasures`: its like.
    """
    db.execute(erasures)
    db.execute(tasks.format(name="made"))
    copied = "INSERT INTO made VALUES (?1, ?2, ?3, ?2, ?2, ?4, ?5)"
    for number, address, url, document in db.execute(
        "SELECT number, address, provider, document FROM task"
    ).fetchall():
        origin, place = _spelled(url)
        db.execute(copied, (number, address, origin, place, document))
    db.execute("DROP TABLE task")
    db.execute("ALTER TABLE made RENAME TO task")
    _respell(db)


def _respell(db: sqlite3.Connection) -> None:
    """One row a place: of two spellings the longer wait holds, and the task met later."""
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
            (_spelled(url)[1], *rest),
        )


def _spelled(url: str) -> tuple[str, str]:
    """Origin and place of a URL; of what is none, and was never called, itself."""
    try:
        return origin_of(url), place_of(url)
    except RequestError:
        return url, url
