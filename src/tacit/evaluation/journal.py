"""Journal of finished experiments: one JSON line each, on disk before the next one starts."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic

from tacit.errors import DataError
from tacit.evaluation.results import AnyRow


class Journal(Generic[AnyRow]):
    """Finished experiments with rows of one `kind`, on disk, or in memory without a path."""

    def __init__(self, path: Path | None, kind: type[AnyRow]) -> None:
        self.path = path
        self._rows: dict[str, list[AnyRow]] = {}
        if path is not None and path.exists():
            self._rows = dict(_entries(path, kind))

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def append(self, key: str, rows: Sequence[AnyRow]) -> None:
        """Append the rows of a finished experiment, durably."""
        self._rows[key] = list(rows)
        if self.path is None:
            return
        entry = {"cell": json.loads(key), "rows": [row.to_dict() for row in rows]}
        with self.path.open("ab") as file:
            # Start a new line after a partial one that a crash left.
            if file.tell() and not _ends_with_newline(self.path):
                file.write(b"\n")
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def rows(self, keys: Iterable[str]) -> list[AnyRow]:
        """Return the rows of the finished experiments, in the order of `keys`."""
        return [row for key in keys for row in self._rows.get(key, [])]

    def remove(self) -> None:
        """Delete the file, which the result file replaces."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def journal_path(result: Path | None) -> Path | None:
    """Return the path of the journal of a result file."""
    return None if result is None else result.with_name(result.name + ".journal")


def _entries(path: Path, kind: type[AnyRow]) -> Iterator[tuple[str, list[AnyRow]]]:
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
            rows = [kind.from_dict(values) for values in entry["rows"]]
            yield json.dumps(entry["cell"], sort_keys=True), rows
        except (AttributeError, DataError, KeyError, RecursionError, TypeError, ValueError):
            # A partial line or one of another version: the experiment runs again.
            continue


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
