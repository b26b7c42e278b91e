"""Tables that stages read and write: arrays of this process, or files that all workers can reach.

A table is an array, or the path of a NumPy file. In files, rows of a sweep are never overwritten
and exist until the state of a later sweep is durable, so that a restarted worker repeats its block
from the same rows, and an interrupted fit resumes from its last complete sweep.
"""

import json
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from tacit.atomic_files import atomic
from tacit.errors import RequestError

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


# Tables of one fit in a folder that all workers can reach, and the state of the fit.

UNREADABLE = (EOFError, OSError, SyntaxError, TypeError, ValueError, BadZipFile, zlib.error)
"""Errors of NumPy for a truncated or malformed array or archive."""
IDENTITY, STATE = "fit.json", "state.npz"


@dataclass(frozen=True)
class InFolder:
    """Files in `folder`, written atomically, also with respect to power failures."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, fit: dict[str, Any]) -> "InFolder":
        """Open the tables of one fit. `fit`: its identity, numbers and strings.

        A new folder is private to its owner, because it contains reports. Raises `RequestError` if
        the folder holds another fit, or one of another version.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RequestError(
                f"{folder} cannot hold checkpoints ({error.strerror}); name a folder as state "
                "(--state)."
            ) from None
        path, identity = (
            folder / IDENTITY,
            json.dumps({"tacit": version("tacit-recommender")} | fit),
        )
        if not path.exists():
            with atomic(path) as partial:
                partial.write_text(identity)
        elif path.read_bytes() != identity.encode():
            raise RequestError(
                f"{folder} contains a checkpoint of a fit with different reports, settings or "
                "version of Tacit. Use an empty folder, or resume that fit with its reports and "
                "settings."
            )
        return cls(folder)

    def within(self, name: str) -> "InFolder":
        """Implement `Tables.within`: a subfolder."""
        inner = self.folder / name
        inner.mkdir(exist_ok=True)
        return InFolder(inner)

    def put(self, name: str, array: Array, *, is_input: bool = False) -> Table:
        """Implement `Tables.put`. Raises `RequestError` for a file that this fit did not write."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            with atomic(path) as partial:
                np.save(partial, array)
            return str(path)
        stored = self._read(path, array)
        if is_input and not np.array_equal(stored, array):
            raise self._damaged(path)
        return str(path)

    def known(self, name: str, like: Array) -> Table:
        """Implement `Tables.known`."""
        path = self.folder / f"{name}.npy"
        self._read(path, like)
        return str(path)

    def after(self, name: str, before: Table) -> Table:
        """Implement `Tables.after`: a new file."""
        like, path = opened(before), str(self.folder / f"{name}.npy")
        open_memmap(path, "w+", like.dtype, like.shape)
        return path

    def save(self, state: State, stale: list[Table]) -> None:
        """Implement `Tables.save`: stale files are deleted."""
        with atomic(self.folder / STATE) as partial:
            np.savez(partial, **state)  # pyright: ignore[reportArgumentType]
        for table in stale:
            Path(str(table)).unlink(missing_ok=True)

    def last(self, like: State) -> State | None:
        """Implement `Tables.last`. Raises `RequestError` for a file that this fit did not write."""
        path = self.folder / STATE
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file) as archive:
                state = dict(archive)
        except UNREADABLE:
            raise self._damaged(path) from None
        if not _is_like(state, like):
            raise self._damaged(path)
        return state

    def _read(self, path: Path, like: Array) -> Array:
        """Read an array and check its type and shape, on which stages rely."""
        try:
            array = open_memmap(path, mode="r")
        except UNREADABLE:
            raise self._damaged(path) from None
        if (array.dtype, array.shape) != (like.dtype, like.shape):
            raise self._damaged(path)
        return array

    def _damaged(self, path: Path) -> RequestError:
        return RequestError(
            f"{path} is damaged or missing; delete the folder {self.folder} and fit again."
        )


def _is_like(state: State, like: State) -> bool:
    """Return whether names, types and shapes are equal.

    Arrays of `like` without rows stand for any common number of rows.
    """
    growing = {name for name, array in like.items() if array.shape[:1] == (0,)}
    lengths = {state[name].shape[:1] for name in growing & state.keys()}
    return len(lengths) < 2 and _types(state, growing) == _types(like, growing)


def _types(state: State, growing: set[str]) -> dict[str, tuple[Any, ...]]:
    return {
        name: (array.dtype, array.ndim, array.shape[1 if name in growing else 0 :])
        for name, array in state.items()
    }
