"""Tables that stages read and write: arrays of this process, or files that all workers reach.

A table is an array, or the path of a NumPy file that holds one. In files, rows of a sweep are never
written again and stay until the state of a later sweep is safe, so that a worker that died does
its block again from the same rows, and a fit that was killed goes on from its last whole sweep.
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
    """That a stage did `rows` rows of a block; what came of them is in a table."""

    rows: int


def opened(table: Table) -> Array:
    """The table's array, a view of the file where it is in one."""
    return np.asarray(open_memmap(table, "r+")) if isinstance(table, str) else table


def written(table: Table, first: int, rows: Array) -> None:
    """Write rows to the table from the row `first` on; where it is a file, it is safe then."""
    if isinstance(table, str):
        file = open_memmap(table, "r+")
        file[first : first + len(rows)] = rows
        file.flush()
    else:
        table[first : first + len(rows)] = rows


class Tables(Protocol):
    """Makes tables, lets them go, and keeps a fit's state."""

    def within(self, name: str) -> "Tables":
        """Tables of a part of the fit, with a state of its own."""
        ...

    def put(self, name: str, array: Array, *, is_input: bool = False) -> Table:
        """The table of that name: the array, unless there is one already. `is_input`: nothing
        changes it, so one that is there already must be equal."""
        ...

    def known(self, name: str, like: Array) -> Table:
        """The table of that name that an earlier run wrote, of the type and shape of `like`."""
        ...

    def after(self, name: str, before: Table) -> Table:
        """A table of the same shape for the rows that are to follow those `before`."""
        ...

    def save(self, state: State, stale: list[Table]) -> None:
        """Keep the state in place of the last; nobody will ask for `stale` tables again."""
        ...

    def last(self, like: State) -> State | None:
        """Return the state that was saved last, with the names, types and shapes of `like`. An
        array of `like` without rows stands for any number of rows."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Rows are replaced where they are, and a fit that is killed is gone."""

    def within(self, name: str) -> "InMemory":
        """As `Tables.within`: the same."""
        return self

    def put(self, name: str, array: Array, *, is_input: bool = False) -> Table:
        """As `Tables.put`; there never is one."""
        return array

    def known(self, name: str, like: Array) -> Table:
        """As `Tables.known`: `like` itself, since rows are replaced where they are."""
        return like

    def after(self, name: str, before: Table) -> Table:
        """As `Tables.after`: the same."""
        return before

    def save(self, state: State, stale: list[Table]) -> None:
        """As `Tables.save`: nothing to do."""

    def last(self, like: State) -> State | None:
        """As `Tables.last`: none."""
        return None
