"""Protocol of count stores, for any database: they hold names and numbers, without policy."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol


class Running(NamedTuple):
    """The running epoch of a task's counts; it never decreases.

    `mark`: identifies the key of the names without revealing it, so that collectors can compare
    keys; None while nothing is counted. `ends`: Unix seconds.
    """

    epoch: int
    mark: bytes | None
    ends: int


class TokenCounts(NamedTuple):
    """Counts of a token in the epoch of a task: reports, and people they were from."""

    reports: int
    people: int


class Counts(Protocol):
    """Connection of one writer, used only in a `transaction`.

    `task`: 32 bytes. Names: 32 bytes, each computed with the key of the task's running epoch.
    """

    def transaction(self, *, alone: bool = False) -> AbstractContextManager[None]:
        """Run an atomic transaction, durable at the end. `alone`: lock out other writers.

        Raises `StoreError` if the database does not respond.
        """
        ...

    def running(self) -> dict[bytes, Running]:
        """Return the running epoch of each task, locked until the transaction ends."""
        ...

    def enter(self, task: bytes, running: Running) -> None:
        """Start an epoch: earlier counts of the task are overwritten and deleted."""
        ...

    def mark(self, task: bytes, running: Running) -> None:
        """Store the mark of the running epoch's key."""
        ...

    def tallies(self, task: bytes, names: Iterable[bytes]) -> dict[bytes, TokenCounts]:
        """Return the counts of these tokens, locked until the transaction ends."""
        ...

    def known(self, task: bytes, people: Iterable[bytes]) -> set[bytes]:
        """Return the people that are already counted."""
        ...

    def keep(
        self, task: bytes, tallies: Mapping[bytes, TokenCounts], people: Iterable[bytes]
    ) -> None:
        """Replace tallies, and add people."""
        ...

    def scrub(self) -> None:
        """Remove deleted data from the database's logs, if possible. Outside a transaction."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
