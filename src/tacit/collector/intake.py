"""What a task takes: every cell one that was asked, every symbol one of the table named."""

from collections.abc import Callable, Sequence

import numpy as np

from tacit.channels.thresholds import hash_id
from tacit.collection.public_hash import pair_keys
from tacit.collector import problems
from tacit.collector.packing import in_table, pack_rated, pack_slots
from tacit.collector.problems import Problem, ProblemError
from tacit.collector.reading import Sent, name
from tacit.collector.store import Held, Row
from tacit.wire.report import SCHEMA
from tacit.wire.schedule import ASK
from tacit.wire.task import Task

Refused = list[dict[str, str]]
Places = Sequence[int]


class Intake:
    """The door of one task. `held`: how the store knows it. Epochs up to `closed` are over."""

    def __init__(self, task: Task, held: Held) -> None:
        self.task = task
        self.held = held
        self.closed = held.closed
        self._mechs = {
            channel.id: (place, len(channel.outputs)) for place, channel in enumerate(task.channels)
        }
        self._every = tuple(range(len(task.items)))
        self._hashes = np.array(task.item_hashes, np.uint64)
        self._asked = self._question()
        self._rated = not task.hides_presence

    def rows(self, reports: Sequence[Sent], now: float) -> tuple[list[Row], Refused]:
        """The reports of an upload as rows, and those that the task does not take.

        Raises `ProblemError` where a name is none: such a client is not ours, and nothing of its
        upload is stored.
        """
        rows: list[Row] = []
        refused: Refused = []
        open_epochs = self.epochs(now)
        for report in reports:
            id, person = name(report.id), name(report.person)
            try:
                mech, cells = self._taken(report, open_epochs)
            except ProblemError as error:
                refused.append(refusal(report.id, error.problem))
            else:
                rows.append(Row(id, self.held.number, report.epoch, mech, person, cells))
        return rows, refused

    def epochs(self, now: float) -> range:
        """The epochs that are collected at a moment: `window` back, and one ahead for fast clocks;
        never one that was closed."""
        epoch = self.task.epoch(now)
        return range(max(epoch - self.task.window, self.closed + 1, 0), epoch + 2)

    def _taken(self, report: Sent, open_epochs: range) -> tuple[int, bytes]:
        """The place of the report's channel in the task, and its cells packed."""
        found = self._mechs.get(report.mech)
        if found is None or report.schema != SCHEMA:
            raise ProblemError(problems.MECHANISM)
        if report.epoch not in open_epochs:
            raise ProblemError(problems.EPOCH)
        mech, outputs = found
        places, symbols = zip(*report.cells, strict=False)  # pairs, as reading has seen
        if not in_table(symbols, outputs) or not self._asked(places, report.person):
            raise ProblemError(problems.CELLS)
        return mech, pack_rated(places[0], symbols[0]) if self._rated else pack_slots(symbols)

    def _question(self) -> Callable[[Places, str], bool]:
        if not self.task.hides_presence:
            return self._one_of_the_catalogue
        return self._the_sample if self.task.cells < len(self.task.items) else self._the_catalogue

    def _one_of_the_catalogue(self, places: Places, person: str) -> bool:
        return len(places) == 1 and 0 <= places[0] < len(self._every)

    def _the_catalogue(self, places: Places, person: str) -> bool:
        return places == self._every

    def _the_sample(self, places: Places, person: str) -> bool:
        """Whether the places are `tacit.wire.schedule.asked`, without sorting the catalogue: K
        ascending places are the K smallest if no other key is below the largest of theirs."""
        if len(places) != self.task.cells or not 0 <= places[0] <= max(places) < len(self._every):
            return False
        mine = np.array(places)
        keys = pair_keys(np.array([hash_id(person)], np.uint64), self._hashes, ASK)
        ascending = bool((np.diff(mine) > 0).all())
        return ascending and int((keys <= keys[mine].max()).sum()) == len(mine)


def refusal(id: str, problem: Problem) -> dict[str, str]:
    """A report that was not stored, as an answer lists it."""
    return {"id": id, "problem": problem.name, "detail": problem.detail}
