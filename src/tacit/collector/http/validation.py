"""What a task takes: every cell one that was asked, every symbol one of the table named."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tacit.collector.http import problems
from tacit.collector.http.problems import Problem, ProblemError
from tacit.collector.http.upload_schema import Sent, names
from tacit.collector.limits.epoch import counted
from tacit.collector.samples import Places, Samples
from tacit.collector.storage.slot_codec import pack_rated, pack_slots
from tacit.collector.storage.store import Held, StoredReport
from tacit.wire.report import SCHEMA
from tacit.wire.task import Task

Refused = list[dict[str, str]]
Claim = tuple[str, Places]
"""A person, and the places that they say they were asked about."""


class Taken(NamedTuple):
    """An upload as rows, and those of its reports that the task does not take. `people`: whose
    names are on any of them. `claims`: under "sample:K", one for each row, still to be checked."""

    rows: list[StoredReport]
    refused: Refused
    people: frozenset[bytes]
    claims: list[Claim]


class ReportValidator:
    """What is taken for one task. `held`: how the store knows it. Epochs up to `closed` are over.

    `counted`: the address under which tokens are charged for it.
    `samples`: what people are asked, where that takes work to find out; `worker` does it.
    """

    def __init__(self, task: Task, held: Held, worker: ThreadPoolExecutor | None = None) -> None:
        self.task = task
        self.held = held
        self.closed = held.closed
        self.counted = counted(task)
        self._mechs = {
            channel.id: (place, len(channel.outputs)) for place, channel in enumerate(task.channels)
        }
        self._every = tuple(range(len(task.items)))
        self._rated = not task.hides_presence
        sampled = task.hides_presence and task.cells < len(task.items)
        self.samples = Samples(task, worker) if sampled else None
        self._asked = self._question()

    def taken(self, reports: Sequence[Sent], now: float) -> Taken:
        """What can be said of an upload at once, at a moment.

        Raises `ProblemError` where a name is none: such a client is not ours, and nothing of its
        upload is stored.
        """
        rows: list[StoredReport] = []
        refused: Refused = []
        claims: list[Claim] = []
        people: set[bytes] = set()
        open_epochs = self.epochs(now)
        for report, (id, person) in zip(reports, names(reports), strict=True):
            people.add(person)
            try:
                mech, places, cells = self._checked(report, open_epochs)
            except ProblemError as error:
                refused.append(refusal(report.id, error.problem))
            else:
                rows.append(StoredReport(id, self.held.number, report.epoch, mech, person, cells))
                if self.samples is not None:
                    claims.append((report.person, places))
        return Taken(rows, refused, frozenset(people), claims)

    def epochs(self, now: float) -> range:
        """The epochs that are collected at a moment: `window` back, and one ahead for fast clocks;
        never one that was closed."""
        epoch = self.task.epoch(now)
        return range(max(epoch - self.task.window, self.closed + 1, 0), epoch + 2)

    def _checked(self, report: Sent, open_epochs: range) -> tuple[int, Places, bytes]:
        """The place of the report's channel in the task, the places and the packed cells."""
        found = self._mechs.get(report.mech)
        if found is None or report.schema != SCHEMA:
            raise ProblemError(problems.MECHANISM)
        if report.epoch not in open_epochs:
            raise ProblemError(problems.EPOCH)
        mech, outputs = found
        places, symbols = zip(*report.cells, strict=False)  # pairs, as reading has seen
        if not self._asked(places):
            raise ProblemError(problems.CELLS)
        return mech, places, self._packed(places, symbols, outputs)

    def _packed(self, places: Places, symbols: Sequence[int], outputs: int) -> bytes:
        try:
            cells = pack_slots(symbols, outputs)
        except ValueError:
            raise ProblemError(problems.CELLS) from None
        return pack_rated(places[0], symbols[0]) if self._rated else cells

    def _question(self) -> Callable[[Places], bool]:
        if self._rated:
            return self._one_of_the_catalogue
        return self._the_catalogue if self.samples is None else self._a_sample

    def _one_of_the_catalogue(self, places: Places) -> bool:
        return len(places) == 1 and 0 <= places[0] < len(self._every)

    def _the_catalogue(self, places: Places) -> bool:
        return places == self._every

    def _a_sample(self, places: Places) -> bool:
        """Whether they could be somebody's: as many as are asked, ascending, of the catalogue."""
        return (
            len(places) == self.task.cells
            and 0 <= places[0] <= places[-1] < len(self._every)
            and sorted(set(places)) == list(places)
        )


def among(taken: Taken, right: Collection[Claim]) -> tuple[list[StoredReport], Refused]:
    """The rows whose claims are right, and every report that is refused."""
    rows: list[StoredReport] = []
    refused = list(taken.refused)
    for row, claim in zip(taken.rows, taken.claims, strict=True):
        if claim in right:
            rows.append(row)
        else:
            refused.append(refusal(row.id.hex(), problems.CELLS))
    return rows, refused


def refusal(id: str, problem: Problem) -> dict[str, str]:
    """A report that was not stored, as an answer lists it."""
    return {"id": id, "problem": problem.name, "detail": problem.detail}
