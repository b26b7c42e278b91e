"""Outbox: the bytes of every unacknowledged report, sent until the collector acknowledges them.

The bytes are the same every time, so it makes no difference whether a report or its acknowledgement
was lost.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tacit.device.provider import Chance, Provider
from tacit.device.transport import Answer, Transport
from tacit.errors import BudgetError
from tacit.wire import replies
from tacit.wire.report import LONGEST_UPLOAD, MOST_REPORTS, upload
from tacit.wire.tasks.loading import loads

UNKNOWN = 404
WRONG = {
    401: "the collector requires another token",
    403: "the collector accepts no reports from this device",
    UNKNOWN: "the collector has no such task",
    413: "the upload is too large for the collector",
}

CONFLICT = "conflict"
"""Problem of a report whose slot was reported before. Reporting it again would not help."""
Batch = Sequence[tuple[str, bytes]]


@dataclass
class SyncOutcome:
    """Outcome of a sync.

    `stored`: acknowledged by the collector. `given_up`: refused permanently. `late`: dropped,
    because their epoch is past the task's window. `waiting`: not acknowledged yet. `again`: Unix
    seconds before which another sync sends nothing; None for no delay. `refused`: ratings that the
    lifetime limit left unreported. `refusal`: the reason for the first of them. `erased`: names
    that the collector erased. `erasing`: requested erasures that it has not confirmed. `notes`: a
    sentence for each problem that the collector reported, and for a task that has not begun.
    """

    stored: int = 0
    given_up: int = 0
    late: int = 0
    waiting: int = 0
    again: float | None = None
    refused: int = 0
    refusal: BudgetError | None = None
    erased: int = 0
    erasing: int = 0
    notes: list[str] = field(default_factory=list[str])


def some_share() -> float:
    """Full jitter: a number from 0 to 1 from the operating system."""
    return secrets.randbelow(1 << 32) / (1 << 32)


class Outbox:
    """Unacknowledged reports of one provider, and their outcome."""

    def __init__(self, provider: Provider, now: float, jitter: Chance = some_share) -> None:
        self._provider, self._db, self._now, self._jitter = provider, provider.store.db, now, jitter
        self.outcome = SyncOutcome()

    def drop_late(self) -> None:
        """Delete the bytes of reports that the collector would not accept any more.

        Under `rated` their ratings are due again, from the stored answers.
        """
        with self._provider.store.transaction():
            for number, address, document in self._provider.tasks():
                task = loads(document, address)
                self._drop(number, task.epoch(self._now) - task.window)

    def send(self, transport: Transport) -> SyncOutcome:
        """Send pending reports, oldest first, unless it is too early after a failure."""
        if self._provider.again(self._now) is None:
            for number, address, _ in self._provider.tasks():
                if not self._send(number, address, transport):
                    break
        self.outcome.waiting = sum(
            len(self._waiting(number)) for number, *_ in self._provider.tasks()
        )
        if self.outcome.waiting == 0 and self.outcome.stored + self.outcome.given_up > 0:
            self._provider.relieve()
        self.outcome.again = self._provider.again(self._now)
        return self.outcome

    def _send(self, number: int, address: str, transport: Transport) -> bool:
        """Send the reports to one task. Returns whether to continue with another one."""
        for batch in _batches(self._waiting(number)):
            body = upload([document for _, document in batch])
            answer = transport("POST", f"/v1/tasks/{address}/reports", body)
            if answer is not None and answer.status == UNKNOWN:
                # The collector treats the same question in the other format as the same task.
                other = self._provider.other_format(number)
                answer = transport("POST", f"/v1/tasks/{other}/reports", body)
            if self._provider.postpones(answer, self._now, self._jitter):
                return False
            if answer is not None and not self._settle(answer, batch):
                return True
        return True

    def _settle(self, answer: Answer, batch: Batch) -> bool:
        """Delete acknowledged and permanently refused reports.

        Returns False for any other answer.
        """
        ids = {report for report, _ in batch}
        refused = _refused(answer, ids) if answer.status != 200 else {}
        if refused is None:
            reason = WRONG.get(answer.status, "the collector cannot parse this upload")
            self.outcome.notes.append(
                f"Reports are still pending: {reason} (status {answer.status})."
            )
            return False
        with self._provider.store.transaction():
            self._forget(ids)
            self._revert([report for report, kind in refused.items() if kind != CONFLICT])
        self.outcome.stored += len(ids) - len(refused)
        self.outcome.given_up += len(refused)
        if refused:
            kinds = ", ".join(sorted(set(refused.values())))
            self.outcome.notes.append(f"The collector rejected {len(refused)} reports ({kinds}).")
        return True

    def _waiting(self, number: int) -> Batch:
        return self._db.execute(
            "SELECT id, document FROM report WHERE task = ? AND document IS NOT NULL "
            "ORDER BY epoch, place",
            (number,),
        ).fetchall()

    def _drop(self, number: int, oldest: int) -> None:
        late = "SELECT id FROM report WHERE task = ? AND epoch < ? AND document IS NOT NULL"
        ids = [report for (report,) in self._db.execute(late, (number, oldest))]
        self._forget(ids)
        self._revert(ids)
        self.outcome.late += len(ids)

    def _forget(self, ids: Iterable[str]) -> None:
        forget = "UPDATE report SET document = NULL WHERE id = ?"
        self._db.executemany(forget, [(report,) for report in ids])

    def _revert(self, ids: Iterable[str]) -> None:
        """Make the ratings of these reports due again, unless they were reported again since.

        Only reports of one item: a report over slots is repeated anyway, and its cells must not
        depend on its outcome.
        """
        revert = (
            "DELETE FROM last WHERE report = ?1 AND (task, place) ="
            " (SELECT task, place FROM report WHERE id = ?1)"
        )
        self._db.executemany(revert, [(report,) for report in ids])


def _batches(waiting: Batch) -> Iterator[Batch]:
    """Divide reports into uploads of at most `MOST_REPORTS` reports and `LONGEST_UPLOAD` bytes."""
    batch: list[tuple[str, bytes]] = []
    length = frame = len(upload([]))
    for report, document in waiting:
        if batch and (len(batch) == MOST_REPORTS or length + len(document) + 1 > LONGEST_UPLOAD):
            yield batch
            batch, length = [], frame
        batch.append((report, document))
        length += len(document) + 1
    if batch:
        yield batch


def _refused(answer: Answer, ids: set[str]) -> dict[str, str] | None:
    """Return the problem of each refused report; None if the answer does not list them.

    Only ids that were sent and a short word are used, since they may be shown or logged.
    """
    problems = replies.refused(answer.body) if answer.status in (409, 422) else None
    return (
        None if problems is None else {one: _word(problems[one]) for one in ids if one in problems}
    )


def _word(problem: str) -> str:
    short = len(problem) <= 40 and problem.replace("-", "").isalpha()
    return problem if short else "no reason given"
