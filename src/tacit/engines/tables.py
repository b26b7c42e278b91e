"""Where a fit's arrays and state are: in memory, or in files of a folder that all workers reach.

A table is an array, or the path of a NumPy file that holds one. In files, rows of a sweep are never
written again and stay until the state of a later sweep is safe, so that a worker that died does
its block again from the same rows, and a fit that was killed goes on from its last whole sweep.
"""

import json
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from tacit.engines.engine import Engine
from tacit.errors import RequestError

Array = NDArray[Any]
Table = Array | str
State = dict[str, Array]
Identity = dict[str, Any]
"""What makes a fit what it is: numbers and texts."""
ELSEWHERE = ("engine", "state", "item_table")
"""Settings of models that change no digit of a fit, or are part of what it learns from."""
WHOSE, STATE = "fit.json", "state.npz"


def digest(*arrays: Array) -> str:
    """Of what is in the arrays."""
    found = blake2b(digest_size=16)
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


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

    def put(self, name: str, array: Array) -> Table:
        """The table of that name: the array, unless there is one already."""
        ...

    def after(self, name: str, before: Table) -> Table:
        """A table of the same shape for the rows that are to follow those `before`."""
        ...

    def save(self, state: State, stale: list[Table]) -> None:
        """Keep the state in place of the last; nobody will ask for `stale` tables again."""
        ...

    def last(self) -> State | None:
        """The state that was kept last."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Rows are replaced where they are, and a fit that is killed is gone."""

    def within(self, name: str) -> "InMemory":
        """As `Tables.within`: the same."""
        return self

    def put(self, name: str, array: Array) -> Table:
        """As `Tables.put`; there never is one."""
        return array

    def after(self, name: str, before: Table) -> Table:
        """As `Tables.after`: the same."""
        return before

    def save(self, state: State, stale: list[Table]) -> None:
        """As `Tables.save`: nothing to do."""

    def last(self) -> State | None:
        """As `Tables.last`: none."""
        return None


@dataclass(frozen=True)
class InFolder:
    """`folder`: one that all workers reach. A file is whole or not there."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, fit: Identity) -> "InFolder":
        """Tables of one fit; raises `RequestError` where the folder holds another's."""
        folder.mkdir(parents=True, exist_ok=True)
        fit, whose = {"tacit": version("tacit")} | fit, folder / WHOSE
        if whose.exists() and json.loads(whose.read_text()) != fit:
            raise RequestError(
                f"{folder} holds the state of a fit of other reports or settings; give an empty "
                "folder, or the same reports and settings to go on with that fit."
            )
        whose.write_text(json.dumps(fit))
        return cls(folder)

    def within(self, name: str) -> "InFolder":
        """As `Tables.within`: a folder in this one."""
        inner = self.folder / name
        inner.mkdir(exist_ok=True)
        return InFolder(inner)

    def put(self, name: str, array: Array) -> Table:
        """As `Tables.put`."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            partial = path.with_suffix(".part.npy")
            np.save(partial, array)
            partial.replace(path)
        return str(path)

    def after(self, name: str, before: Table) -> Table:
        """As `Tables.after`: a file of its own, made anew."""
        like, path = opened(before), str(self.folder / f"{name}.npy")
        open_memmap(path, "w+", like.dtype, like.shape)
        return path

    def save(self, state: State, stale: list[Table]) -> None:
        """As `Tables.save`: files go."""
        partial = self.folder / "state.part.npz"
        np.savez(partial, allow_pickle=False, **state)
        partial.replace(self.folder / STATE)
        for table in stale:
            Path(str(table)).unlink(missing_ok=True)

    def last(self) -> State | None:
        """As `Tables.last`."""
        path = self.folder / STATE
        if not path.exists():
            return None
        with np.load(path) as state:
            return dict(state)


class Learns(Protocol):
    """Settings of a model that learns on an engine, over a folder; None for this process."""

    @property
    def name(self) -> str:
        """What errors and folders call it."""
        ...

    @property
    def engine(self) -> Engine | None:
        """Where stages run."""
        ...

    @property
    def state(self) -> Path | None:
        """The folder."""
        ...


def tables(model: Learns, rng: int, *learnt_from: Array) -> Tables:
    """Of a fit: in the model's folder, or in memory where it has neither folder nor engine.

    Raises `RequestError` for an engine without a folder, and for a folder of another fit.
    """
    if model.state is not None:
        own = {name: value for name, value in vars(model).items() if name not in ELSEWHERE}
        own |= {"model": model.name, "rng": rng, "learnt from": digest(*learnt_from)}
        return InFolder.of(model.state, own)
    if model.engine is not None:
        raise RequestError(
            "Workers of an engine do not see this process's memory; give `state`, a folder that "
            "all of them reach."
        )
    return InMemory()
