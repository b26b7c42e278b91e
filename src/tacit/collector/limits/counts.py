"""What a store of counts does, whichever database it is: it holds names and numbers, and decides
nothing."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol


class Running(NamedTuple):
    """The epoch in which a task is counted now; it never goes back.

    `mark`: tells whether two collectors count under one key, and tells the key to nobody; None
    while nothing is counted. `ends`: Unix seconds.
    """

    epoch: int
    mark: bytes | None
    ends: int


class TokenCounts(NamedTuple):
    """What is counted of a token in the epoch of a task: reports, and people they were from."""

    reports: int
    people: int


class Counts(Protocol):
    """One writer's connection; it is used in a `transaction` alone. `task`: 32 bytes; names: 32
    bytes, each made under the key of the task's running epoch."""

    def transaction(self, *, alone: bool = False) -> AbstractContextManager[None]:
        """All or nothing, durable at the end. `alone`: nobody else counts meanwhile.

        Raises `StoreError` when the database does not answer.
        """
        ...

    def running(self) -> dict[bytes, Running]:
        """The running epoch of each task; nobody changes one until the transaction ends."""
        ...

    def enter(self, task: bytes, running: Running) -> None:
        """Begin an epoch: what was counted of the task before is overwritten and gone."""
        ...

    def mark(self, task: bytes, running: Running) -> None:
        """Say under which key the running epoch is counted."""
        ...

    def tallies(self, task: bytes, names: Iterable[bytes]) -> dict[bytes, TokenCounts]:
        """What is counted of these tokens; nobody changes it until the transaction ends."""
        ...

    def known(self, task: bytes, people: Iterable[bytes]) -> set[bytes]:
        """Those of the people who were counted already."""
        ...

    def keep(
        self, task: bytes, tallies: Mapping[bytes, TokenCounts], people: Iterable[bytes]
    ) -> None:
        """Replace tallies, and add people."""
        ...

    def scrub(self) -> None:
        """Outside a transaction: leave nothing of what was deleted in logs of the database's own,
        where that can be had."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...
