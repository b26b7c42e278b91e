"""Checks of the items that a user is queried about, at a cost linear in the catalogue.

Under "sample:K" they follow from the pseudonym, and in a block of a task that can be extended from
the block key. The checks run in a separate thread with a bounded queue, once per name, so that
claimed names cannot block the server.
"""

import asyncio
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256

import numpy as np

from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import pair_keys
from tacit.collector.ingest import problems
from tacit.collector.ingest.problems import ProblemError
from tacit.collector.storage.stored_blocks import block_places
from tacit.wire.tasks.blocks import ASK, Growth
from tacit.wire.tasks.task import Task

MOST_KEYS = 1 << 22
"""Most keys of one upload, one per item and user: four users at a million items."""
MOST_WAITING = 1 << 25
"""Most pending keys: a fraction of a second of work."""
MOST_KNOWN = 1 << 15
"""Users whose queried items are cached."""
BLOCK = 1 << 16
"""Items hashed at a time."""

Places = tuple[int, ...]
Claims = Mapping[str, frozenset[Places]]
"""Claimed item indices by name: of the user, or the block key."""


class Samples:
    """Queried items of one task, used on the server's thread.

    `worker`: runs the checks, None for the event loop's default threads.
    """

    def __init__(self, task: Task, worker: ThreadPoolExecutor | None) -> None:
        self._hashes = np.array(task.item_hashes, np.uint64)
        self._cells, self._growth = task.cells, task.growth
        self._worker = worker
        self._known: dict[str, bytes] = {}
        self._waiting = 0

    def right(self, person: str, places: Places) -> bool | None:
        """Return whether the user is queried about these items; None if not computed yet."""
        known = self._known.get(person)
        return None if known is None else known == _digest(places)

    def bound(self, people: Iterable[str]) -> None:
        """Raise `ProblemError` if an upload has too many users that are not cached yet.

        This is checked before anything else of the upload. Block keys are bounded by `room`.
        """
        if self._growth is not None:
            return
        unknown = {person for person in people if person not in self._known}
        if len(unknown) * len(self._hashes) > MOST_KEYS:
            raise ProblemError(problems.PEOPLE)

    @contextmanager
    def room(self, claims: Claims) -> Generator[None]:
        """Reserve capacity for a check.

        Raises `ProblemError` if it is too much work for one upload, or at the moment.
        """
        keys = sum(self._keys(places) for claimed in claims.values() for places in claimed)
        if keys > MOST_KEYS:
            raise ProblemError(problems.PEOPLE)
        if self._waiting + keys > MOST_WAITING:
            raise ProblemError(problems.BUSY)
        self._waiting += keys
        try:
            yield
        finally:
            self._waiting -= keys

    async def learn(self, claims: Claims) -> set[tuple[str, Places]]:
        """Return the valid claims."""
        loop = asyncio.get_running_loop()
        right = set(await loop.run_in_executor(self._worker, self._valid, claims))
        for person, places in right:
            self._remember(person, places)
        return right

    def _remember(self, person: str, places: Places) -> None:
        if len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[person] = _digest(places)

    def _valid(self, claims: Claims) -> list[tuple[str, Places]]:
        return [
            (person, places)
            for person, claimed in claims.items()
            for places in claimed
            if self._is_right(person, places)
        ]

    def _keys(self, places: Places) -> int:
        """Return the number of keys that a check computes."""
        return len(self._hashes) if self._growth is None else _size(self._growth, places)

    def _is_right(self, name: str, places: Places) -> bool:
        if self._growth is None:
            return self._smallest(name, places)
        block = self._growth.blocks[self._growth.block_of(places[0])]
        return block_places(name, self._hashes, block).tolist() == list(places)

    def _smallest(self, person: str, places: Sequence[int]) -> bool:
        """Return whether ascending indices equal `tacit.wire.tasks.task.asked`, without sorting.

        They do if no other key is as small as the largest of theirs.
        """
        me = np.array([hash_id(person)], np.uint64)
        largest = pair_keys(me, self._hashes[list(places)], ASK).max()
        smaller = 0
        for start in range(0, len(self._hashes), BLOCK):
            keys = pair_keys(me, self._hashes[start : start + BLOCK], ASK)
            smaller += int((keys <= largest).sum())
            if smaller > self._cells:
                return False
        return smaller == self._cells


def _size(growth: Growth, places: Places) -> int:
    block = growth.blocks[growth.block_of(places[0])]
    return block.end - block.first


def claims(pairs: Iterable[tuple[str, Places]]) -> Claims:
    """Group claims by user, without duplicates."""
    by_person: dict[str, set[Places]] = {}
    for person, places in pairs:
        by_person.setdefault(person, set()).add(places)
    return {person: frozenset(claimed) for person, claimed in by_person.items()}


def _digest(places: Places) -> bytes:
    return sha256(np.array(places, "<u4").tobytes()).digest()[:16]
