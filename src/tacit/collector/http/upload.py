"""POST /v1/tasks/{task}/reports: refuse early, read with limits, store, and only then say so."""

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tacit.collector.http import problems
from tacit.collector.http.admission import Admission, Visit
from tacit.collector.http.body import Bodies, checked
from tacit.collector.http.problems import MEDIA_TYPE, Problem, ProblemError
from tacit.collector.http.upload_schema import read
from tacit.collector.http.validation import Claim, Refused, Taken, among, refusal
from tacit.collector.limits.limits import Charge, Reservation
from tacit.collector.samples import Claims, Samples, claims
from tacit.collector.storage.commit import Cost
from tacit.collector.storage.store import ReportOutcome, StoredReport, StoreError
from tacit.collector.storage.writer import ExcessError, Writer

log = logging.getLogger(__name__)

MOST_WAITING = 128
"""Uploads that wait for their commit together: a fraction of a second's work."""
PATIENCE = 0.1
"""Seconds before a refused client hears of it: one that does not wait by itself is made to."""


class UploadAnswer(NamedTuple):
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


ACCEPTED = UploadAnswer(200, b"{}")


class UploadHandler:
    """Takes reports. `counts`: answers by the name of their problem, or "accepted"."""

    def __init__(self, admission: Admission, writer: Callable[[], Writer]) -> None:
        self._admission, self._writer = admission, writer
        self._learning: set[asyncio.Task[None]] = set()
        self.counts: Counter[str] = Counter()
        self._bodies = Bodies()

    async def __call__(self, task: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request to the task of an address."""
        answered: asyncio.Future[UploadAnswer] = asyncio.get_running_loop().create_future()
        try:
            if self._is_busy():
                await asyncio.sleep(PATIENCE)
                raise ProblemError(problems.BUSY)
            visit = self._admission.let_in(task, dict(scope["headers"]))
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
        answer: Callable[[UploadAnswer], None],
    ) -> None:
        """The same for a body that is there already; calls `answer` once, now or later."""
        if self._is_busy():
            later = asyncio.get_running_loop().call_later
            later(PATIENCE, answer, self._refused(problems.BUSY))
            return
        try:
            self._store(self._admission.let_in(task, headers), checked(body), answer)
        except Exception as error:  # to a parser that called it would be the client's fault
            answer(self._raised(error))

    def _is_busy(self) -> bool:
        """Nothing of a request is looked at while there is too much to do already: reading it first
        would cost as much as storing it."""
        return self._writer().uploads + len(self._learning) >= MOST_WAITING

    def _store(self, visit: Visit, body: bytes, answer: Callable[[UploadAnswer], None]) -> None:
        """Read a body and have it stored; `answer` hears of it when it is durable."""
        sent, samples = read(body), visit.intake.samples
        if samples is not None:
            samples.bound(report.person for report in sent)
        taken = visit.intake.taken(sent, visit.now)
        charge = visit.charge(len(sent), taken.people)
        if samples is None:
            self._put(visit, taken.rows, taken.refused, _cost(charge, taken.refused), answer)
            return
        known = {each: samples.right(*each) for each in taken.claims}
        right = {each for each, found in known.items() if found}
        if unknown := claims(each for each, found in known.items() if found is None):
            work = self._learn(visit, taken, samples, (right, unknown), charge, answer)
            learning = asyncio.ensure_future(work)
            self._learning.add(learning)
            learning.add_done_callback(self._learning.discard)
        else:
            rows, refused = among(taken, right)
            self._put(visit, rows, refused, _cost(charge, refused), answer)

    async def _learn(
        self,
        visit: Visit,
        taken: Taken,
        samples: Samples,
        claims: tuple[set[Claim], Claims],
        charge: Charge | None,
        answer: Callable[[UploadAnswer], None],
    ) -> None:
        """Store what can only be checked with some work: the token pays before it is done.
        `claims`: those that are known to be right, and those to be checked."""
        right, unknown = claims
        try:
            with samples.room(unknown):
                paid = await self._writer().reserve(charge) if charge else None
                learnt = await samples.learn(unknown)
            rows, refused = among(taken, right | learnt)
            self._put(visit, rows, refused, _cost(charge, refused, paid), answer)
        except Exception as error:
            answer(self._raised(error, visit))

    def _put(
        self,
        visit: Visit,
        rows: list[StoredReport],
        refused: Refused,
        cost: Cost | None,
        answer: Callable[[UploadAnswer], None],
    ) -> None:
        def settled(stored: asyncio.Future[list[ReportOutcome]]) -> None:
            try:
                outcomes = stored.result()
            except Exception as error:
                answer(self._raised(error, visit))
            else:
                answer(self._accepted(rows, outcomes, refused))

        if rows or (cost is not None and cost.paid is None):
            self._writer().put(rows, cost).add_done_callback(settled)
        else:
            answer(self._accepted([], [], refused))

    def _accepted(
        self, rows: list[StoredReport], outcomes: list[ReportOutcome], refused: Refused
    ) -> UploadAnswer:
        """All stored, or the list of those that are not; every other one is durable."""
        if ReportOutcome.CONFLICT in outcomes:
            pairs = zip(rows, outcomes, strict=True)
            conflicts = [row for row, outcome in pairs if outcome is ReportOutcome.CONFLICT]
            refused = refused + [refusal(row.id.hex(), problems.CONFLICT) for row in conflicts]
        if not refused:
            self.counts["accepted"] += 1
            return ACCEPTED
        return self._refused(_PROBLEMS[refused[0]["problem"]], refused)

    def _raised(self, error: Exception, visit: Visit | None = None) -> UploadAnswer:
        if isinstance(error, ProblemError):
            return self._refused(error.problem)
        if isinstance(error, StoreError):
            return self._refused(problems.UNAVAILABLE)
        if isinstance(error, ExcessError):
            if error.spent and visit is not None:
                self._admission.spent(visit)
            return self._refused(problems.LIMIT)
        # Where it failed, and not the error's own words: they may hold what was sent.
        frames = "".join(traceback.format_tb(error.__traceback__))
        log.error("An upload failed: %s.\n%s", type(error).__name__, frames)
        return self._refused(problems.FAILED)

    def _refused(self, problem: Problem, refused: Refused | None = None) -> UploadAnswer:
        """Nothing stored, or all but what is listed in `refused`."""
        self.counts[problem.name] += 1
        return UploadAnswer(problem.status, problem.document(refused), problem.retry_after)


def _cost(charge: Charge | None, refused: Refused, paid: Reservation | None = None) -> Cost | None:
    return None if charge is None else Cost(charge, len(refused), paid)


_PROBLEMS = {
    problem.name: problem
    for problem in (problems.MECHANISM, problems.EPOCH, problems.CELLS, problems.CONFLICT)
}


def _once(answered: "asyncio.Future[UploadAnswer]") -> Callable[[UploadAnswer], None]:
    def answer(given: UploadAnswer) -> None:
        if not answered.done():  # whoever waited was told to stop
            answered.set_result(given)

    return answer
