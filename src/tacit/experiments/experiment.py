"""Experiments: a declaration of cells to measure, and the one loop that runs them.

A cell is everything that determines its rows, except random noise. A journal keeps the rows of
finished cells on disk, so that an interrupted experiment resumes. Tables and figures are computed
from rows only.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar
from typing import Protocol as Interface

from tacit.atomic_files import write_atomically
from tacit.errors import DataError
from tacit.progress import Progress
from tacit.results.records import AnyRow, save

Bar = Callable[[str], AbstractContextManager[Progress]]
Notify = Callable[[str], None]
Value = TypeVar("Value")


class Cell(Interface):
    """One cell of an experiment."""

    @property
    def key(self) -> str:
        """Everything that determines its rows, except random noise, as one line of JSON."""
        ...

    @property
    def label(self) -> str:
        """Label in progress bars."""
        ...


AnyCell = TypeVar("AnyCell", bound=Cell)


class Interrupted(KeyboardInterrupt):
    """Interrupt of an experiment. `rows`: those of the finished cells."""

    def __init__(self, rows: Sequence[Any]) -> None:
        super().__init__()
        self.rows = rows


def _nothing(rows: Sequence[Any]) -> str:
    del rows
    return ""


def _unchanged(rows: Sequence[AnyRow]) -> list[AnyRow]:
    return list(rows)


@dataclass(frozen=True, kw_only=True)
class Experiment(Generic[AnyCell, AnyRow]):
    """A declaration: what is measured, and how its rows are shown.

    `title`: of the progress bar. `row`: the type of its rows. `cells`: in execution order. Those
    that share work are consecutive. `measure`: rows of one cell. `derive`: all rows, with the
    columns that compare rows with each other. `text`: the printed tables. `page`: the report, one
    self-contained HTML file.
    """

    title: str
    row: type[AnyRow]
    cells: Sequence[AnyCell]
    measure: Callable[[AnyCell], Sequence[AnyRow]]
    text: Callable[[Sequence[AnyRow]], str] = _nothing
    page: Callable[[Sequence[AnyRow]], str] = _nothing
    derive: Callable[[Sequence[AnyRow]], list[AnyRow]] = _unchanged

    def rows(
        self,
        journal: "Journal[AnyRow] | None" = None,
        progress: Progress = lambda label, done, total: None,
    ) -> list[AnyRow]:
        """Measure all cells that are not in the journal, in order. Returns the rows of all cells.

        An interrupt or an error propagates. Finished cells stay in the journal.
        """
        known = Journal[AnyRow](None, self.row) if journal is None else journal
        done = sum(cell.key in known for cell in self.cells)
        for cell in self.cells:
            if cell.key in known:
                continue
            progress(cell.label, done, len(self.cells))
            known.append(cell.key, self.measure(cell))
            done += 1
        progress("", done, len(self.cells))
        return self.finished(known)

    def finished(self, journal: "Journal[AnyRow]") -> list[AnyRow]:
        """Return the rows of the cells in the journal."""
        return self.derive(journal.rows(cell.key for cell in self.cells))

    def execute(
        self,
        *,
        json: Path | None = None,
        report: Path | None = None,
        bar: Bar = lambda title: nullcontext(lambda label, done, total: None),
        notify: Notify = lambda sentence: None,
    ) -> list[AnyRow]:
        """Return all rows, written to `json` (with Parquet next to it), and as a page to `report`.

        The journal is next to the first of both, and is removed at the end. Raises `Interrupted`
        for an interrupt, after the finished rows were written to `json`.
        """
        journal = Journal(journal_path(json or report), self.row)
        if earlier := self.finished(journal):
            notify(f"{len(earlier)} rows of an earlier run were found. Resuming.")
        try:
            with bar(self.title) as progress:
                rows = self.rows(journal, progress)
        except KeyboardInterrupt:
            rows = self.finished(journal)
            self._save(rows, json)
            raise Interrupted(rows) from None
        self._save(rows, json)
        if report is not None:
            write_atomically(report, self.page(rows).encode())
        journal.remove()
        return rows

    def _save(self, rows: Sequence[AnyRow], path: Path | None) -> None:
        if path is not None:
            save(rows, path, self.row)


class Journal(Generic[AnyRow]):
    """Finished cells with rows of one `kind`, on disk, or in memory without a path."""

    def __init__(self, path: Path | None, kind: type[AnyRow]) -> None:
        self.path = path
        self._rows: dict[str, list[AnyRow]] = {}
        if path is not None and path.exists():
            self._rows = dict(_entries(path, kind))

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def append(self, key: str, rows: Sequence[AnyRow]) -> None:
        """Append the rows of a finished cell, durably."""
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
        """Return the rows of the finished cells, in the order of `keys`."""
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
            # A partial line or one of another version: the cell is measured again.
            continue


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


class Latest(Generic[Value]):
    """Cache of the last value, for what consecutive cells share."""

    def __init__(self) -> None:
        self._key: object = None
        self._value: Value | None = None

    def of(self, key: object, make: Callable[[], Value]) -> Value:
        """Return the cached value if it is that of `key`, otherwise make it."""
        if self._value is None or key != self._key:
            self._value = None  # freed first: two tables of reports would double the memory
            self._key, self._value = key, make()
        return self._value
