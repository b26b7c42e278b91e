"""Finished experiments on disk: one JSON line each, there before the next one begins."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic

from tacit.errors import DataError
from tacit.evaluation.results import AnyRow


class Journal(Generic[AnyRow]):
    """Finished experiments on disk, with rows of one `kind`; without a path, in memory only."""

    def __init__(self, path: Path | None, kind: type[AnyRow]) -> None:
        self.path = path
        self._rows: dict[str, list[AnyRow]] = {}
        if path is not None and path.exists():
            self._rows = dict(_entries(path, kind))

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def append(self, key: str, rows: Sequence[AnyRow]) -> None:
        """Keep the rows of a finished experiment; they are on disk when this returns."""
        self._rows[key] = list(rows)
        if self.path is None:
            return
        entry = {"cell": json.loads(key), "rows": [row.to_dict() for row in rows]}
        with self.path.open("ab") as file:
            # A line that an earlier crash tore must not swallow this one.
            if file.tell() and not _ends_with_newline(self.path):
                file.write(b"\n")
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def rows(self, keys: Iterable[str]) -> list[AnyRow]:
        """The rows of those experiments that are finished, in the order of `keys`."""
        return [row for key in keys for row in self._rows.get(key, [])]

    def remove(self) -> None:
        """Forget the file: the result file has taken its place."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def beside(result: Path | None) -> Path | None:
    """Where the journal of a result file lies, until that is written."""
    return None if result is None else result.with_name(result.name + ".journal")


def _entries(path: Path, kind: type[AnyRow]) -> Iterator[tuple[str, list[AnyRow]]]:
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
            rows = [kind.from_dict(values) for values in entry["rows"]]
            yield json.dumps(entry["cell"], sort_keys=True), rows
        except (AttributeError, DataError, KeyError, RecursionError, TypeError, ValueError):
            # Torn by a crash, or of another version: that experiment is run again.
            continue


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
