"""Rows of a store about its user: their validation per task, export, and copy to another task."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from tacit.device.storage.store import Store
from tacit.errors import DataError, RequestError
from tacit.privacy.ledger import nats
from tacit.scale import shortest
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import Task


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


def copy_ratings(store: Store, source: tuple[int, Task], target: tuple[int, Task]) -> int:
    """Copy ratings of one task to another, in one transaction, and return their number.

    Tasks with their numbers in the store. An item is the same if its id and its title are. Raises
    `RequestError` for tasks of different scales, whose levels have different meanings.
    """
    (earlier, before), (number, task) = source, target
    if before.scale != task.scale:
        raise RequestError(
            f"The ratings of that task are on the scale {before.scale}, and this task has the "
            f"scale {task.scale}; rate its items anew."
        )
    check_rows(store.db, earlier, before)
    known, rated = store.ratings(earlier), store.ratings(number)
    indices = _titled(task)
    rows = [
        (number, indices[item], known[index])
        for item, index in _titled(before).items()
        if index in known and item in indices and indices[item] not in rated
    ]
    with store.transaction():
        store.db.executemany("INSERT INTO rating VALUES (?, ?, ?)", rows)
    return len(rows)


def _titled(task: Task) -> dict[tuple[str, str | None], int]:
    """Return the index of each item, by id as text and title."""
    titles = task.titles or (None,) * len(task.items)
    items = enumerate(zip(task.items, titles, strict=True))
    return {(str(item), title): index for index, (item, title) in items}


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
