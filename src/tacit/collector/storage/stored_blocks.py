"""Stored answers to blocks: which items they are on, and the latest of each user and block.

A user answers a block once in each generation. Of several generations the latest counts, and within
one the first report, whatever a faulty device sends after it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import Hashes, pair_keys
from tacit.collector.storage.slot_codec import StoredBlock, unpack_block
from tacit.collector.storage.store import StoredReport
from tacit.errors import DataError
from tacit.ratings import Codes
from tacit.wire.tasks.blocks import ASK, WORD, Growth, ItemBlock
from tacit.wire.tasks.task import Task

KEYS = 1 << 22
"""Keys computed at a time, about 60 MiB."""


class BlockAnswers(NamedTuple):
    """Answers of users to one block, one row per answer.

    `people`: number of the user, `places`: item index, `symbols`, `mechs`: channel; shapes (n,).
    """

    people: Codes
    places: Codes
    symbols: NDArray[np.uint16]
    mechs: NDArray[np.uint8]


class _Answered(NamedTuple):
    """A stored report on a block, decoded. `rank`: the smallest one of a user and block counts."""

    rank: tuple[int, int, bytes]
    mech: int
    block: StoredBlock


def block_places(key: str, hashes: Hashes, block: ItemBlock) -> Codes:
    """Return the item indices of `ItemBlock.places`, ascending, shape (places,).

    `key`: block key of a device. `hashes`: of all items of the task, shape (items,).
    """
    return _queried(np.array([hash_id(key)], np.uint64), block, hashes)[1]


def answers_of(row: StoredReport, task: Task, growth: Growth) -> tuple[list[int], list[int]]:
    """Return item indices and symbols of one report.

    Raises `DataError` for a report that the task could not have accepted.
    """
    stored = unpack_block(row.cells)
    places = block_places(stored.key, _hashes(task), _block(growth, stored.number)).tolist()
    if len(places) != len(stored.symbols):
        raise DataError("cells of the wrong size")
    return places, stored.symbols.tolist()


def latest_answers(
    scan: Iterable[Sequence[StoredReport]], task: Task, growth: Growth
) -> tuple[list[str], list[BlockAnswers], set[int]]:
    """Return the names of users, their answers by block, and the channels in use.

    Raises `DataError` for a report that the task could not have accepted.
    """
    numbers: dict[bytes, int] = {}
    latest: list[dict[int, _Answered]] = [{} for _ in growth.blocks]
    for rows in scan:
        for row in rows:
            stored, generation = unpack_block(row.cells), growth.generation(row.epoch)
            _block(growth, stored.number)
            answered = _Answered((-generation, row.epoch, row.id), row.mech, stored)
            person = numbers.setdefault(row.person, len(numbers))
            before = latest[stored.number].get(person, answered)
            latest[stored.number][person] = min(answered, before, key=lambda each: each.rank)
    used = {each.mech for answered in latest for each in answered.values()}
    if any(not 0 <= mech < len(task.channels) for mech in used):
        raise DataError("A stored report has a channel that the task does not have.")
    hashes = _hashes(task)
    answers = [
        each
        for block, answered in zip(growth.blocks, latest, strict=True)
        for each in _of_block(block, answered, hashes)
    ]
    return [name.hex() for name in numbers], answers, used


def _of_block(
    block: ItemBlock, answered: dict[int, _Answered], hashes: Hashes
) -> Iterable[BlockAnswers]:
    """Yield the answers to a block, of some users at a time."""
    people, each = np.array([*answered], np.int32), list(answered.values())
    keys = np.array([hash_id(one.block.key) for one in each], np.uint64)
    sizes = np.array([len(one.block.symbols) for one in each], np.int64)
    size = max(1, KEYS // (block.end - block.first))
    for start in range(0, len(each), size):
        some = slice(start, start + size)
        who, items = _queried(keys[some], block, hashes)
        if (np.bincount(who, minlength=len(keys[some])) != sizes[some]).any():
            raise DataError("A stored report has another number of symbols than queried items.")
        symbols = np.concatenate([one.block.symbols for one in each[some]])
        mechs = np.array([one.mech for one in each[some]], np.uint8)
        yield BlockAnswers(people[some][who], items, symbols, mechs[who])


def _queried(keys: Hashes, block: ItemBlock, hashes: Hashes) -> tuple[NDArray[np.intp], Codes]:
    """Return which of some block keys select which item indices, by key and item."""
    items = hashes[block.first : block.end]
    if block.threshold == WORD:
        chosen = np.ones((len(keys), len(items)), np.bool_)
    else:
        chosen = pair_keys(keys[:, None], items, ASK) < np.uint64(block.threshold)
    who, places = np.nonzero(chosen)
    return who, (block.first + places).astype(np.int32)


def _block(growth: Growth, number: int) -> ItemBlock:
    if number >= len(growth.blocks):
        raise DataError("A stored report is on a block that the task does not have.")
    return growth.blocks[number]


def _hashes(task: Task) -> Hashes:
    return np.array(task.item_hashes, np.uint64)
