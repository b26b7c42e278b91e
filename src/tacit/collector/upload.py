"""POST /v1/tasks/{task}/reports: refuse early, read with limits, store, and only then say so."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tacit.collector import problems
from tacit.collector.body import Bodies
from tacit.collector.enrolment import Enrolment
from tacit.collector.intake import Intake, Refused, refusal
from tacit.collector.problems import MEDIA_TYPE, Problem, ProblemError
from tacit.collector.reading import read
from tacit.collector.store import Outcome, Row, StoreError
from tacit.collector.writer import Writer

MOST_WAITING = 128
"""Uploads that wait for their commit together: a fraction of a second's work."""
PATIENCE = 0.1
"""Seconds before a refused client hears of it: one that does not wait by itself is made to."""

ACCEPTED = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"2")],
}
Answer = tuple[int, bytes, int | None]


class Upload:
    """The door for reports. `counts`: answers by the name of their problem, or "accepted"."""

    def __init__(
        self,
        intakes: Mapping[str, Intake],
        writer: Callable[[], Writer],
        clock: Callable[[], float],
        enrolment: Enrolment | None = None,
    ) -> None:
        self._intakes = intakes
        self._writer = writer
        self._clock = clock
        self._enrolment = enrolment
        self.counts: Counter[str] = Counter()
        self._bodies = Bodies()

    async def __call__(self, task: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request to the task of an address."""
        # Nothing of a request is looked at while there is too much to do already: reading it
        # first would cost as much as storing it.
        if self._writer().uploads >= MOST_WAITING:
            await asyncio.sleep(PATIENCE)
            answer = self._refused(problems.BUSY)
        else:
            try:
                answer = await self._answer(task, scope, receive)
            except ClientDisconnect:
                return
        await _send(send, *answer)

    async def _answer(self, task: str, scope: Scope, receive: Receive) -> Answer:
        try:
            intake = self._intakes.get(task)
            if intake is None:
                raise ProblemError(problems.NO_SUCH_TASK)
            now = self._clock()
            enrolment = self._enrolment
            name = enrolment.admit(scope, intake.task.epoch(now)) if enrolment else b""
            body = await self._bodies.read(scope, receive)
            rows, refused = intake.rows(read(body), now)
            outcomes = await self._writer().put(rows) if rows else []
        except ProblemError as error:
            return self._refused(error.problem)
        except StoreError:
            return self._refused(problems.UNAVAILABLE)
        if enrolment:
            enrolment.count(name, outcomes.count(Outcome.STORED))
        return self._accepted(rows, outcomes, refused)

    def _accepted(self, rows: list[Row], outcomes: list[Outcome], refused: Refused) -> Answer:
        """All stored, or the list of those that are not; every other one is durable."""
        if Outcome.CONFLICT in outcomes:
            pairs = zip(rows, outcomes, strict=True)
            conflicts = [row for row, outcome in pairs if outcome is Outcome.CONFLICT]
            refused = refused + [refusal(row.id.hex(), problems.CONFLICT) for row in conflicts]
        if not refused:
            self.counts["accepted"] += 1
            return 200, b"{}", None
        return self._refused(_PROBLEMS[refused[0]["problem"]], refused)

    def _refused(self, problem: Problem, refused: Refused | None = None) -> Answer:
        self.counts[problem.name] += 1
        return problem.status, problem.document(refused), problem.retry_after


_PROBLEMS = {
    problem.name: problem
    for problem in (problems.MECHANISM, problems.EPOCH, problems.CELLS, problems.CONFLICT)
}


async def _send(send: Send, status: int, content: bytes, retry_after: int | None) -> None:
    if status == 200:
        await send(ACCEPTED)
    else:
        headers = [(b"content-type", MEDIA_TYPE), (b"content-length", b"%d" % len(content))]
        if retry_after is not None:
            headers.append((b"retry-after", b"%d" % retry_after))
        await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
