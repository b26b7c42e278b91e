"""Upgrade of a store of an earlier format, in the transaction that opens it.

Ratings, answers, reports and the ledger are unchanged. Every task in a store from before
tacit-task-2 is a tacit-task-1: its question and its names are those of its address, and it belongs
to the last provider that sent it.
"""

import sqlite3

from tacit.errors import RequestError
from tacit.wire.origin import origin_of, place_of

FORMER, BEFORE_BLOCKS, BEFORE_TOKENS = 0x7AC17002, 0x7AC17003, 0x7AC17004
"""Formats that are upgraded: before tacit-task-2, before tasks that are answered by block and
shuffled tasks, and before signed tokens."""


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
