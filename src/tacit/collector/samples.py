"""Whether places are those that "sample:K" asks a person about: work as large as the catalogue.

It is done by a thread of its own, at most so much at a time, and once a person: nobody keeps the
server from answering by naming people.
"""

import asyncio
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256

import numpy as np

from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import pair_keys
from tacit.collector.http import problems
from tacit.collector.http.problems import ProblemError
from tacit.wire.schedule import ASK
from tacit.wire.task import Task

MOST_KEYS = 1 << 22
"""Keys that one upload may need, one an item for each person: four people at a million items."""
MOST_WAITING = 1 << 25
"""Keys that may wait together: a fraction of a second's work."""
MOST_KNOWN = 1 << 15
"""People of whom it is remembered what they are asked."""
BLOCK = 1 << 16
"""Items that are hashed at a time."""

Places = tuple[int, ...]
Claims = Mapping[str, frozenset[Places]]
"""What people, by name, say that they were asked."""


class Samples:
    """The questions of one task of the plan "sample:K". Called on the server's thread; `worker`
    does the work, or else a thread of the loop's own."""

    def __init__(self, task: Task, worker: ThreadPoolExecutor | None) -> None:
        self._hashes = np.array(task.item_hashes, np.uint64)
        self._cells = task.cells
        self._worker = worker
        self._known: dict[str, bytes] = {}
        self._waiting = 0

    def right(self, person: str, places: Places) -> bool | None:
        """Whether the person is asked about these places; None where that is not known yet."""
        known = self._known.get(person)
        return None if known is None else known == _digest(places)

    def bound(self, people: Iterable[str]) -> None:
        """Raise `ProblemError` where it is not known yet what so many people are asked, before
        anything else of their upload is looked at."""
        unknown = {person for person in people if person not in self._known}
        if len(unknown) * len(self._hashes) > MOST_KEYS:
            raise ProblemError(problems.PEOPLE)

    @contextmanager
    def room(self, claims: Claims) -> Generator[None]:
        """While they are checked. Raises `ProblemError` where that would be too much work, for one
        upload or just now."""
        keys = sum(map(len, claims.values())) * len(self._hashes)
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
        """Of what people say that they were asked, what is right."""
        loop = asyncio.get_running_loop()
        right = set(await loop.run_in_executor(self._worker, self._found, claims))
        for person, places in right:
            self._remember(person, places)
        return right

    def _remember(self, person: str, places: Places) -> None:
        if len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[person] = _digest(places)

    def _found(self, claims: Claims) -> list[tuple[str, Places]]:
        return [
            (person, places)
            for person, said in claims.items()
            for places in said
            if self._smallest(person, places)
        ]

    def _smallest(self, person: str, places: Sequence[int]) -> bool:
        """Whether ascending places are `tacit.wire.schedule.asked`, without sorting the catalogue:
        they are if no key but theirs is as small as the largest of theirs."""
        me = np.array([hash_id(person)], np.uint64)
        largest = pair_keys(me, self._hashes[list(places)], ASK).max()
        smaller = 0
        for start in range(0, len(self._hashes), BLOCK):
            keys = pair_keys(me, self._hashes[start : start + BLOCK], ASK)
            smaller += int((keys <= largest).sum())
            if smaller > self._cells:
                return False
        return smaller == self._cells


def claims(pairs: Iterable[tuple[str, Places]]) -> Claims:
    """What is said of each person, once."""
    found: dict[str, set[Places]] = {}
    for person, places in pairs:
        found.setdefault(person, set()).add(places)
    return {person: frozenset(said) for person, said in found.items()}


def _digest(places: Places) -> bytes:
    return sha256(np.array(places, "<u4").tobytes()).digest()[:16]
