"""Stored reports as items and symbols: verification of a store, and export for one person."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tacit.collector.administration.summary import questions
from tacit.collector.storage.slot_codec import RATED, table_of, unpack_slots
from tacit.collector.storage.store import Inspector, StoredReport, TaskChecker
from tacit.collector.storage.stored_blocks import answers_of
from tacit.errors import DataError
from tacit.wire.tasks.task import Task, asked

MOST_EXAMPLES = 5
"""Ids of faulty reports that are listed."""


@dataclass
class Verification:
    """Result of a check: number of valid reports, and of faulty ones by fault, with some ids."""

    valid: int = 0
    faults: Counter[str] = field(default_factory=Counter[str])
    examples: list[str] = field(default_factory=list[str])


def symbols(row: StoredReport, task: Task) -> list[int]:
    """Return the symbols of a stored report, in the order of its items.

    Raises `DataError` for a report that the task could not have accepted.
    """
    if not 0 <= row.mech < len(task.channels):
        raise DataError("unknown channel")
    if row.epoch < 0 or len(row.id) != 16 or len(row.person) != 16:
        raise DataError("epoch, id or pseudonym out of range")
    if task.growth is not None:
        _, values = answers_of(row, task, task.growth)
    else:
        values = _of_slots(row, task) if task.hides_presence else _of_one_item(row, task)
    if max(values) >= len(task.channels[row.mech].outputs):
        raise DataError("symbol outside the channel's table")
    return values


def verify(inspector: Inspector) -> Verification:
    """Check every stored report against its task.

    Raises `RequestError` for a store whose columns are damaged, or with reports of unknown tasks.
    """
    if isinstance(inspector, TaskChecker):
        inspector.check_tasks()
    result = Verification()
    for number, (task, *_) in questions(inspector.tasks()).items():
        for rows in inspector.scan(number):
            for row in rows:
                _note(result, row, task)
    return result


def export(inspector: Inspector, person: bytes) -> list[dict[str, Any]]:
    """Return all stored reports of a pseudonym as JSON values, per task.

    Items by their ids, symbols by the values that they stand for. These are the noisy values that
    the device sent: the store has no others.
    """
    exported: list[dict[str, Any]] = []
    for number, (task, *_) in questions(inspector.tasks()).items():
        rows = inspector.of_person(number, person)
        if rows:
            reports = [_exported(row, task) for row in rows]
            exported.append({"task": task.address, "name": task.name, "reports": reports})
    return exported


def _exported(row: StoredReport, task: Task) -> dict[str, Any]:
    channel = task.channels[row.mech]
    values = [
        {"item": task.items[index], "value": _number(channel.outputs[symbol])}
        for index, symbol in zip(_items(row, task), symbols(row, task), strict=True)
    ]
    head = {"id": row.id.hex(), "epoch": row.epoch, "channel": channel.id}
    return head | {"epsilon": channel.epsilon, "values": values}


def _number(output: Decimal | None) -> float | None:
    return None if output is None else float(output)


def _items(row: StoredReport, task: Task) -> Sequence[int]:
    """Return the item indices of a report: the queried ones, or the one in the report."""
    if task.growth is not None:
        return answers_of(row, task, task.growth)[0]
    if task.hides_presence:
        return asked(task, row.person.hex())
    return [int(table_of([row])["place"][0])]


def _of_one_item(row: StoredReport, task: Task) -> list[int]:
    if len(row.cells) != RATED.itemsize:
        raise DataError("cells of the wrong size")
    (cell,) = table_of([row])
    if cell["place"] >= len(task.items):
        raise DataError("item outside the catalogue")
    return [int(cell["symbol"])]


def _of_slots(row: StoredReport, task: Task) -> list[int]:
    if not row.cells or len(row.cells) != 1 + task.cells * (1 if row.cells[0] == 1 else 2):
        raise DataError("cells of the wrong size")
    return unpack_slots(row.cells).tolist()


def _note(result: Verification, row: StoredReport, task: Task) -> None:
    try:
        symbols(row, task)
    except DataError as error:
        result.faults[str(error)] += 1
        if len(result.examples) < MOST_EXAMPLES:
            result.examples.append(row.id.hex())
    else:
        result.valid += 1
