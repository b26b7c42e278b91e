"""Validation of the rows stored for a task: items, levels, channels, symbols."""

import sqlite3
from collections.abc import Iterator

from tacit.errors import DataError
from tacit.wire.task import Task


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
    for table in ("answer", "last"):
        yield table, "place", "1", n_items
        yield table, "row", "1", levels + task.hides_presence
        yield table, "channel", "1", len(task.channels)
    for index, channel in enumerate(task.channels):
        yield "answer", "symbol", f"channel = {index}", len(channel.outputs)
