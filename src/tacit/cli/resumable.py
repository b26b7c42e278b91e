"""Resumable grids: an interrupted run keeps its finished rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import typer

from tacit.cli import options

if TYPE_CHECKING:
    from tacit.experiments.grid import Journal, Progress
    from tacit.experiments.results import Record

Rows = TypeVar("Rows", bound="Record")


@dataclass(frozen=True)
class Resumable(Generic[Rows]):
    """A grid of rows of one `kind`. `run`: compute all rows and append each to the journal.
    `finished`: return the rows in the journal. `show`: print tables. `json`: the result file.
    """

    title: str
    kind: type[Rows]
    run: "Callable[[Journal[Rows], Progress], Sequence[Rows]]"
    finished: "Callable[[Journal[Rows]], Sequence[Rows]]"
    show: Callable[[Sequence[Rows]], None]
    json: Path | None

    def __call__(self, report: Path | None, write: Callable[[Sequence[Rows], Path], None]) -> None:
        """Run the grid, print its tables, and write the result file and the `report` with `write`.

        Exits with 130 if interrupted.
        """
        from tacit.experiments.grid import Journal, journal_path
        from tacit.experiments.progress import bar

        journal = Journal(journal_path(self.json or report), self.kind)
        if done := self.finished(journal):
            options.notice(f"{len(done)} rows of an earlier run were found. Resuming.")
        try:
            with bar(self.title) as progress:
                rows = self.run(journal, progress)
        except KeyboardInterrupt:
            self._interrupted(self.finished(journal))
        self._save(rows)
        if report:
            write(rows, report)
            options.notice(f"Open {report} in a browser.")
        journal.remove()
        self.show(rows)

    def _interrupted(self, rows: Sequence[Rows]) -> NoReturn:
        self._save(rows)
        self.show(rows)
        hint = (
            f", written to {self.json}. Run the same command again to resume" if self.json else ""
        )
        options.notice(f"Interrupted after {len(rows)} rows{hint}.")
        raise typer.Exit(options.INTERRUPTED)

    def _save(self, rows: Sequence[Rows]) -> None:
        from tacit.experiments.results import save

        if self.json:
            save(rows, self.json, self.kind)
