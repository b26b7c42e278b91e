"""Tables of one fit in a folder that all workers can reach, and the state of the fit."""

import json
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.format import open_memmap

from tacit.engines.tables import Array, State, Table, opened
from tacit.errors import RequestError
from tacit.whole_files import whole

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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path, identity = (
            folder / IDENTITY,
            json.dumps({"tacit": version("tacit-recommender")} | fit),
        )
        if not path.exists():
            with whole(path) as partial:
                partial.write_text(identity)
        elif path.read_bytes() != identity.encode():
            raise RequestError(
                f"{folder} contains the state of a fit with other reports or settings, "
                "or with another version of Tacit. Use an empty folder, or the reports "
                "and settings of that fit to resume it."
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
            with whole(path) as partial:
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
        with whole(self.folder / STATE) as partial:
            np.savez(partial, allow_pickle=False, **state)
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
