"""The tables of one fit in a folder that all workers reach, and how far the fit got."""

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from tacit.engines.tables import Array, State, Table, opened
from tacit.errors import RequestError
from tacit.whole_files import whole

WHOSE, STATE = "fit.json", "state.npz"


@dataclass(frozen=True)
class InFolder:
    """A file of the `folder` is whole or not there, after a power cut too."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, fit: dict[str, Any]) -> "InFolder":
        """Tables of one fit: what makes it what it is, numbers and texts. A folder that is made is
        its owner's alone, for reports are in it.

        Raises `RequestError` where the folder holds another fit's, or one of another version.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        whose, said = folder / WHOSE, json.dumps({"tacit": version("tacit-recommender")} | fit)
        if not whose.exists():
            with whole(whose) as partial:
                partial.write_text(said)
        elif whose.read_text() != said:
            raise RequestError(
                f"{folder} holds the state of a fit of other reports or settings, or by another "
                "version of Tacit; give an empty folder, or what that fit had to go on with it."
            )
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
            with whole(path) as partial:
                np.save(partial, array)
        return str(path)

    def after(self, name: str, before: Table) -> Table:
        """As `Tables.after`: a file of its own, made anew."""
        like, path = opened(before), str(self.folder / f"{name}.npy")
        open_memmap(path, "w+", like.dtype, like.shape)
        return path

    def save(self, state: State, stale: list[Table]) -> None:
        """As `Tables.save`: files go."""
        with whole(self.folder / STATE) as partial:
            np.savez(partial, allow_pickle=False, **state)
        for table in stale:
            Path(str(table)).unlink(missing_ok=True)

    def last(self) -> State | None:
        """As `Tables.last`."""
        path = self.folder / STATE
        if not path.exists():
            return None
        with np.load(path) as state:
            return dict(state)
