"""Reports of a store for fitting: the latest per person and item, in bounded memory."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import asked_places
from tacit.collection.task_guarantee import task_guarantee
from tacit.collector.storage.slot_codec import STORED, table_of, unpack_slots
from tacit.collector.storage.store import Held, Reader, StoredReport, TableReader, TaskChecker
from tacit.collector.storage.stored_blocks import latest_answers
from tacit.errors import DataError, RequestError
from tacit.kernels.layout import by_user, numbered
from tacit.ratings import Codes
from tacit.reports import Reports
from tacit.vocabulary import Vocabulary
from tacit.wire.tasks.blocks import Growth
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import Task

RESTORE = "the store is damaged; restore a backup"
BLOCK = 1 << 22
"""People times items whose keys are sorted at a time, about 60 MiB."""


class StoredEntries(NamedTuple):
    """Columns of reported cells: person number, item index, symbol, channel; shapes (n,)."""

    people: Codes
    places: Codes
    symbols: NDArray[np.uint16]
    mechs: NDArray[np.uint8]


def find(reader: Reader, address: str | None = None) -> tuple[Held, Task]:
    """Return the task of an address, or the latest. Raises `RequestError` if it does not exist.

    Of a task that was extended, the latest extension is returned.
    """
    tasks = [(held, loads(held.document)) for held in reader.tasks()]
    fit = [(held, task) for held, task in tasks if address in (None, task.address)]
    if not fit:
        known = ", ".join(task.address for _, task in tasks) or "none"
        raise RequestError(f"The store has no task {address or 'yet'}; stored tasks: {known}.")
    same = [each for each in tasks if each[0].number == fit[0][0].number]
    latest = max(same, key=lambda each: len(each[1].items))
    return latest if len(latest[1].items) > len(fit[0][1].items) else fit[0]


def together(reader: Reader, address: str | None = None) -> list[Task]:
    """Return all tasks whose reports are stored with those of one task, including itself.

    These are the tasks that it continues or that continue it. Raises `RequestError` as `find` does.
    """
    held, _ = find(reader, address)
    return [loads(each.document) for each in reader.tasks() if each.number == held.number]


def reports(reader: Reader, address: str | None = None) -> Reports:
    """Return all reports to a task, the latest of each (person, item).

    Peak memory is about 80 bytes per report under "rated" (`benchmarks/store_memory.py`), and every
    person's latest row otherwise. Raises `RequestError` for an unknown task, for one without
    reports, and for a store with reports of an unknown task, and `DataError` for a report with
    another item index, channel or symbol than the task has.
    """
    held, task = find(reader, address)
    if isinstance(reader, TaskChecker):
        reader.check_tasks()
    if task.growth is not None:
        names, cells, used = _blocks(reader.scan(held.number), task, task.growth)
    elif task.hides_presence:
        names, cells, used = _slots(reader.scan(held.number), task)
    else:
        names, cells, used = _rated(_table(reader, held.number), task)
    if not names:
        raise RequestError(f"The task {task.address} has no reports yet.")
    return _reports(task, names, cells, used)


def _table(reader: Reader, number: int) -> NDArray[np.void]:
    """Return reports of one cell each, as a table of the type `STORED`."""
    if isinstance(reader, TableReader):
        return np.frombuffer(b"".join(reader.tables(number)), STORED)
    return np.concatenate([table_of([]), *map(table_of, reader.scan(number))])


def _rated(rows: NDArray[np.void], task: Task) -> tuple[list[str], StoredEntries, set[int]]:
    """Return reports of one cell each, the latest epoch of each (person, item)."""
    n_items = len(task.items)
    _check("place", rows["place"], n_items)
    _check("channel", rows["mech"], len(task.channels))
    names, who = _numbered(rows)
    epochs, packed = rows["epoch"], rows["symbol"] + (rows["mech"].astype(np.uint32) << 16)
    places = rows["place"].astype(np.int32)
    if np.ptp(epochs) if len(rows) else False:
        by_epoch = np.argsort(epochs, kind="stable")
        who, places, packed = who[by_epoch], places[by_epoch], packed[by_epoch]
    people, order = by_user(who, places, len(names), n_items)
    who = np.repeat(np.arange(len(names), dtype=np.int32), people.counts)
    again = (np.diff(who) == 0) & (np.diff(people.other) == 0)
    last = np.append(~again, True)[: len(rows)]
    packed = packed[order[last]]
    symbols, mechs = (packed & 0xFFFF).astype(np.uint16), (packed >> 16).astype(np.uint8)
    used = set(np.flatnonzero(np.bincount(mechs)).tolist())
    return names, StoredEntries(who[last], people.other[last], symbols, mechs), used


def _numbered(rows: NDArray[np.void]) -> tuple[list[str], Codes]:
    """Return the sorted names of people, and each row's index into them; (rows,)."""
    words = rows.view(np.uint64).reshape(len(rows), STORED.itemsize // 8)
    numbers, known = numbered(words[:, :2])
    names = [name.tobytes().hex() for name in known]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names))
    return [names[k] for k in order], rank[numbers]


def _slots(
    scan: Iterable[list[StoredReport]], task: Task
) -> tuple[list[str], StoredEntries, set[int]]:
    """Return reports of all queried items, the latest epoch of each person."""
    latest: dict[bytes, StoredReport] = {}
    for rows in scan:
        for row in rows:
            if row.person not in latest or row.epoch > latest[row.person].epoch:
                latest[row.person] = row
    names = [name.hex() for name in latest]
    each, size = list(latest.values()), max(1, BLOCK // len(task.items))
    blocks = [_block(task, each[at : at + size], at) for at in range(0, len(each), size)]
    return names, _joined(blocks), {row.mech for row in each}


def _blocks(
    scan: Iterable[list[StoredReport]], task: Task, growth: Growth
) -> tuple[list[str], StoredEntries, set[int]]:
    """Return reports on blocks, "missing" included: a user may have answered some blocks only."""
    names, answers, used = latest_answers(scan, task, growth)
    return names, _joined([StoredEntries(*each) for each in answers]), used


def _blocks_of_items(growth: Growth, item_of: Codes) -> Codes:
    """Return the block of each item, in the order of `Reports.item_ids`."""
    blocks = np.empty(len(item_of), np.int32)
    blocks[item_of] = np.repeat(
        np.arange(len(growth.blocks), dtype=np.int32),
        [block.end - block.first for block in growth.blocks],
    )
    return blocks


def _block(task: Task, rows: Sequence[StoredReport], first: int) -> StoredEntries:
    """Return the cells of some people's rows; `first`: the number of the first person."""
    places = _queried(task, [row.person.hex() for row in rows])
    symbols = np.stack([_symbols(row.cells, task.cells) for row in rows])
    mechs = np.array([row.mech for row in rows])
    _check("channel", mechs, len(task.channels))
    mechs = mechs.astype(np.uint8)
    shown = np.ones(symbols.shape, np.bool_)
    if task.plan == "catalogue":  # dropping "missing" loses no information
        shown = symbols != _silent(task)[mechs, None]
        if len(task.channels) > 1:  # but for the channel of a user without another symbol
            shown[:, 0] |= ~shown.any(1)
    row_of = shown.nonzero()[0]
    who = (first + row_of).astype(np.int32)
    return StoredEntries(who, places[shown], symbols[shown], mechs[row_of])


def _symbols(cells: bytes, count: int) -> NDArray[np.uint16]:
    """Return the symbols of one report; raises `DataError` unless there are `count` of them."""
    if len(cells) != 1 + count * (1 if cells[0] == 1 else 2):
        raise DataError(f"A stored report must have {count} symbols; {RESTORE}.")
    return unpack_slots(cells)


def _check(column: str, values: NDArray[Any], count: int) -> None:
    """Raise `DataError` unless all values are from 0 to `count` - 1."""
    wrong = values[(values < 0) | (values >= count)]
    if len(wrong):
        raise DataError(
            f"A stored report must have a {column} from 0 to {count - 1}, got {wrong[0]}; "
            f"{RESTORE}."
        )


def _queried(task: Task, names: Sequence[str]) -> Codes:
    """Return `schedule.asked` of many people, shape (people, slots)."""
    every = np.arange(len(task.items), dtype=np.int32)
    if task.slots is None or task.slots >= len(every):
        return np.broadcast_to(every, (len(names), len(every)))
    people = np.array([hash_id(name) for name in names], np.uint64)
    return asked_places(people, np.array(task.item_hashes, np.uint64), task.slots)


def _silent(task: Task) -> NDArray[np.int64]:
    """Return each channel's symbol "missing", -1 without one; shape (channels,)."""
    outputs = [channel.outputs for channel in task.channels]
    return np.array([each.index(None) if None in each else -1 for each in outputs])


def _joined(blocks: Sequence[StoredEntries]) -> StoredEntries:
    if not blocks:
        return _none()
    return StoredEntries(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def _none() -> StoredEntries:
    none = np.empty(0, np.int32)
    return StoredEntries(none, none, none.astype(np.uint16), none.astype(np.uint8))


def _reports(
    task: Task, names: Sequence[str], cells: StoredEntries, used: Iterable[int]
) -> Reports:
    """Return `Reports`, with items in the order of their ids, people in that of their names.

    `used`: channels that people reported through, whether or not a cell of theirs is left.
    """
    user_ids, user_of = Vocabulary.of(pl.Series("id", names))
    item_ids, item_of = Vocabulary.of(pl.Series("id", task.items))
    widest = max(len(channel.outputs) for channel in task.channels)
    for index, channel in enumerate(task.channels):
        _check("symbol", cells.symbols[cells.mechs == index], len(channel.outputs))
    users, items = user_of[cells.people], item_of[cells.places]
    symbols, mechs = cells.symbols.astype(np.min_scalar_type(widest - 1)), cells.mechs
    if (np.diff(users * np.int64(len(item_ids)) + items) < 0).any():
        order = by_user(users, items, len(user_ids), len(item_ids))[1]
        users, items, symbols, mechs = users[order], items[order], symbols[order], mechs[order]
    return Reports(
        users=users,
        items=items,
        symbols=symbols,
        channel_of=mechs,
        channels=task.channels,
        scale=task.scale,
        user_ids=user_ids,
        item_ids=item_ids,
        guarantee=task_guarantee(task, used),
        blocks=None if task.growth is None else _blocks_of_items(task.growth, item_of),
        plan=task.plan if task.growth is None else f"sample:{task.growth.limit}",
        name=task.name,
    )
