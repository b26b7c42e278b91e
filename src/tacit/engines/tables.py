"""Tables that stages read and write: arrays of this process, or files that all workers can reach.

A table is an array, or the path of a NumPy file. In files, rows of a sweep are never overwritten
and exist until the state of a later sweep is durable, so that a restarted worker repeats its block
from the same rows, and an interrupted fit resumes from its last complete sweep.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

Array = NDArray[Any]
Table = Array | str
State = dict[str, Array]


class Done(NamedTuple):
    """Result of a stage that processed `rows` rows of a block and wrote them to a table."""

    rows: int


def opened(table: Table) -> Array:
    """Return the table's array, a view of its file if it is in one."""
    return np.asarray(open_memmap(table, "r+")) if isinstance(table, str) else table


def written(table: Table, first: int, rows: Array) -> None:
    """Write rows to the table from row `first` on, durably if it is a file."""
    if isinstance(table, str):
        file = open_memmap(table, "r+")
        file[first : first + len(rows)] = rows
        file.flush()
    else:
        table[first : first + len(rows)] = rows


class Tables(Protocol):
    """Creates and deletes tables, and stores a fit's state."""

    def within(self, name: str) -> "Tables":
        """Return tables of a part of the fit, with a separate state."""
        ...

    def put(self, name: str, array: Array, *, is_input: bool = False) -> Table:
        """Return the named table, with the array as initial content if it is new.

        `is_input`: the table is never modified, so an existing one must be equal.
        """
        ...

    def known(self, name: str, like: Array) -> Table:
        """Return the named table of an earlier run, with the type and shape of `like`."""
        ...

    def after(self, name: str, before: Table) -> Table:
        """Return a table of the same shape for the rows that replace those of `before`."""
        ...

    def save(self, state: State, stale: list[Table]) -> None:
        """Replace the stored state. `stale`: tables that are not needed any more."""
        ...

    def last(self, like: State) -> State | None:
        """Return the last saved state, with the names, types and shapes of `like`.

        An array of `like` without rows stands for any number of rows.
        """
        ...


@dataclass(frozen=True)
class InMemory:
    """Tables in memory. Rows are replaced in place, and an interrupted fit is lost."""

    def within(self, name: str) -> "InMemory":
        """Implement `Tables.within`: the same tables."""
        return self

    def put(self, name: str, array: Array, *, is_input: bool = False) -> Table:
        """Implement `Tables.put`; tables are always new."""
        return array

    def known(self, name: str, like: Array) -> Table:
        """Implement `Tables.known`: `like` itself, since rows are replaced in place."""
        return like

    def after(self, name: str, before: Table) -> Table:
        """Implement `Tables.after`: the same table."""
        return before

    def save(self, state: State, stale: list[Table]) -> None:
        """Implement `Tables.save`: nothing to do."""

    def last(self, like: State) -> State | None:
        """Implement `Tables.last`: None."""
        return None
