"""POST /v1/tasks/{task}/reports: refuse early, read with limits, store, and only then say so."""

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tacit.collector import problems
from tacit.collector.body import Bodies, check_media, checked
from tacit.collector.enrolment import Enrolment
from tacit.collector.intake import Intake, Refused, refusal
from tacit.collector.problems import MEDIA_TYPE, Problem, ProblemError
from tacit.collector.reading import read
from tacit.collector.store import Outcome, Row, StoreError
from tacit.collector.writer import Writer

log = logging.getLogger(__name__)

MOST_WAITING = 128
"""Uploads that wait for their commit together: a fraction of a second's work."""
PATIENCE = 0.1
"""Seconds before a refused client hears of it: one that does not wait by itself is made to."""


class Answer(NamedTuple):
    """What is said of an upload."""

    status: int
    content: bytes
    retry_after: int | None = None

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The header lines that an HTTP answer of it has, names in lower case."""
        media = b"application/json" if self.status == 200 else MEDIA_TYPE
        headers = [(b"content-type", media), (b"content-length", b"%d" % len(self.content))]
        if self.retry_after is not None:
            headers.append((b"retry-after", b"%d" % self.retry_after))
        return headers


ACCEPTED = Answer(200, b"{}")


class _Visit(NamedTuple):
    """A client that may send, at a moment, and the name under which its reports are counted."""

    intake: Intake
    now: float
    name: bytes


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
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        try:
            if self._is_busy():
                await asyncio.sleep(PATIENCE)
                raise ProblemError(problems.BUSY)
            visit = self._let_in(task, dict(scope["headers"]))
            self._store(visit, await self._bodies.read(receive), _once(answered))
            answer = await answered
        except ClientDisconnect:
            return
        except Exception as error:
            answer = self._raised(error)
        start = {"status": answer.status, "headers": answer.headers()}
        await send({"type": "http.response.start"} | start)
        await send({"type": "http.response.body", "body": answer.content})

    def take(
        self,
        task: str,
        headers: Mapping[bytes, bytes],
        body: bytes,
        answer: Callable[[Answer], None],
    ) -> None:
        """The same for a body that is there already; calls `answer` once, now or later."""
        if self._is_busy():
            later = asyncio.get_running_loop().call_later
            later(PATIENCE, answer, self._refused(problems.BUSY))
            return
        try:
            self._store(self._let_in(task, headers), checked(body), answer)
        except Exception as error:  # to a parser that called it would be the client's fault
            answer(self._raised(error))

    def _is_busy(self) -> bool:
        """Nothing of a request is looked at while there is too much to do already: reading it first
        would cost as much as storing it."""
        return self._writer().uploads >= MOST_WAITING

    def _let_in(self, task: str, headers: Mapping[bytes, bytes]) -> _Visit:
        """Whoever may send. Raises `ProblemError` for anybody else, before the body is read."""
        intake = self._intakes.get(task)
        if intake is None:
            raise ProblemError(problems.NO_SUCH_TASK)
        now = self._clock()
        name = self._enrolment.admit(headers, intake.task.epoch(now)) if self._enrolment else b""
        check_media(headers)
        return _Visit(intake, now, name)

    def _store(self, visit: _Visit, body: bytes, answer: Callable[[Answer], None]) -> None:
        """Read a body and have it stored; `answer` hears of it when it is durable."""
        rows, refused = visit.intake.rows(read(body), visit.now)

        def settled(stored: asyncio.Future[list[Outcome]]) -> None:
            answer(self._outcome(visit, rows, stored, refused))

        if rows:
            self._writer().put(rows).add_done_callback(settled)
        else:
            answer(self._accepted([], [], refused))

    def _outcome(
        self,
        visit: _Visit,
        rows: list[Row],
        stored: "asyncio.Future[list[Outcome]]",
        refused: Refused,
    ) -> Answer:
        try:
            outcomes = stored.result()
        except StoreError:
            return self._refused(problems.UNAVAILABLE)
        if self._enrolment:
            self._enrolment.count(visit.name, outcomes.count(Outcome.STORED))
        return self._accepted(rows, outcomes, refused)

    def _accepted(self, rows: list[Row], outcomes: list[Outcome], refused: Refused) -> Answer:
        """All stored, or the list of those that are not; every other one is durable."""
        if Outcome.CONFLICT in outcomes:
            pairs = zip(rows, outcomes, strict=True)
            conflicts = [row for row, outcome in pairs if outcome is Outcome.CONFLICT]
            refused = refused + [refusal(row.id.hex(), problems.CONFLICT) for row in conflicts]
        if not refused:
            self.counts["accepted"] += 1
            return ACCEPTED
        return self._refused(_PROBLEMS[refused[0]["problem"]], refused)

    def _raised(self, error: Exception) -> Answer:
        if isinstance(error, ProblemError):
            return self._refused(error.problem)
        # Where it failed, and not the error's own words: they may hold what was sent.
        frames = "".join(traceback.format_tb(error.__traceback__))
        log.error("An upload failed: %s.\n%s", type(error).__name__, frames)
        return self._refused(problems.FAILED)

    def _refused(self, problem: Problem, refused: Refused | None = None) -> Answer:
        """Nothing stored, or all but what is listed in `refused`."""
        self.counts[problem.name] += 1
        return Answer(problem.status, problem.document(refused), problem.retry_after)


_PROBLEMS = {
    problem.name: problem
    for problem in (problems.MECHANISM, problems.EPOCH, problems.CELLS, problems.CONFLICT)
}


def _once(answered: "asyncio.Future[Answer]") -> Callable[[Answer], None]:
    def answer(given: Answer) -> None:
        if not answered.done():  # whoever waited was told to stop
            answered.set_result(given)

    return answer
