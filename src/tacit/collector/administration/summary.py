"""Summary of a store for operators and metrics: counts per task and day, without pseudonyms."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tacit.collector.ingest.retention import due
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.store import Held, Inspector
from tacit.errors import TacitError
from tacit.wire.tasks.loading import loads
from tacit.wire.tasks.task import Task
from tacit.wire.tasks.terms import DAY


@dataclass(frozen=True)
class TaskSummary:
    """Reports to the tasks of one question, which are stored together.

    `number`: the store's number of them. `tasks`: newest first. `closed`: last epoch that was
    deleted. `epochs`: number of stored reports by epoch. `tombstones`: recorded erasure requests.
    `fitted`: when the newest model was published, Unix seconds, None without one.
    """

    number: int
    tasks: tuple[Task, ...]
    closed: int
    epochs: dict[int, int]
    tombstones: int
    fitted: float | None

    @property
    def task(self) -> Task:
        """The newest task."""
        return self.tasks[0]

    @property
    def reports(self) -> int:
        """Number of stored reports."""
        return sum(self.epochs.values())

    @property
    def backlog(self) -> int:
        """Number of reports of the epoch of the last fit and of later ones; all before a fit.

        Reports have no time but their epoch: some of the fit's own epoch are in its model already.
        """
        first = min(self.epochs, default=0) if self.fitted is None else self.task.epoch(self.fitted)
        return sum(count for epoch, count in self.epochs.items() if epoch >= first)

    @property
    def days(self) -> dict[str, int]:
        """Number of stored reports by the UTC date on which their epoch began."""
        by_day: Counter[str] = Counter()
        for epoch, count in sorted(self.epochs.items()):
            begins = self.task.start + epoch * self.task.epoch_seconds
            by_day[f"{datetime.fromtimestamp(begins, UTC):%Y-%m-%d}"] += count
        return dict(by_day)

    def since(self, published: PublishedModels | None) -> "TaskSummary":
        """Return the same summary with the time of the newest model of a folder."""
        return replace(self, fitted=_fitted(self.tasks, published))

    def overdue(self, now: float) -> int:
        """Return the number of reports whose retention period has ended. `now`: Unix seconds."""
        last = due(self.task, now)
        return sum(count for epoch, count in self.epochs.items() if epoch <= last)

    def retention_lag(self, now: float) -> float:
        """Return for how many seconds the oldest report has been overdue, 0 if none is."""
        if not self.epochs:
            return 0.0
        ends = self.task.start + (min(self.epochs) + 1) * self.task.epoch_seconds
        return max(0.0, now - ends - self.task.retention_days * DAY)


def questions(held: Iterable[Held]) -> dict[int, tuple[Task, ...]]:
    """Return the tasks by the number under which their reports are stored, newest first.

    A task that extends another precedes it. Documents in obsolete formats are left out.
    """
    by_number: defaultdict[int, list[Task]] = defaultdict(list)
    for each in held:
        with suppress(TacitError):
            by_number[each.number].append(loads(each.document))
    for tasks in by_number.values():
        tasks.sort(key=lambda task: -len(task.items))
    return {number: tuple(tasks) for number, tasks in by_number.items()}


def summaries(
    inspector: Inspector, published: PublishedModels | None = None
) -> Sequence[TaskSummary]:
    """Return a summary of each question in the store, the newest first.

    `published`: the folder of models, for the time of the last fit. Raises `RequestError` for a
    store that does not exist or is damaged.
    """
    held = inspector.tasks()
    epochs: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for number, epoch, count in inspector.counts():
        epochs[number][epoch] = count
    erased = Counter(tombstone.task for tombstone in inspector.tombstones())
    closed = {each.number: each.closed for each in held}
    return [
        TaskSummary(
            number, tasks, closed[number], epochs[number], erased[number], _fitted(tasks, published)
        )
        for number, tasks in questions(held).items()
    ]


def _fitted(tasks: Iterable[Task], published: PublishedModels | None) -> float | None:
    if published is None:
        return None
    times = [published.published_at(task.address) for task in tasks]
    return max((time for time in times if time is not None), default=None)
