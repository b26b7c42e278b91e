"""POST /v1/tasks/{task}/reports: refuse early, read with limits, store, and only then say so."""

import asyncio
import logging
import traceback
from collections import Counter
from typing import NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tacit.collector.http import problems
from tacit.collector.http.admission import Admission, Visit
from tacit.collector.http.body import Bodies, drop
from tacit.collector.http.problems import MEDIA_TYPE, Problem, ProblemError
from tacit.collector.http.upload_schema import read
from tacit.collector.http.validation import Claim, Refused, Taken, among, refusal
from tacit.collector.limits.limits import Charge, Reservation
from tacit.collector.samples import Samples, claims
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

    def __init__(self, admission: Admission, writer: Writer) -> None:
        self._admission, self._writer = admission, writer
        self._learning = 0
        self.counts: Counter[str] = Counter()
        self._bodies = Bodies()

    async def __call__(self, task: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request to the task of an address."""
        visit, linger = None, None
        try:
            await self._not_busy()
            visit = self._admission.let_in(task, dict(scope["headers"]))
            answer = await self._store(visit, await self._bodies.read(receive))
        except ClientDisconnect:
            return
        except Exception as error:
            answer = self._raised(error, visit)
            linger = error.linger if isinstance(error, ProblemError) else None
        if linger is None:
            await _say(send, answer)
        else:
            await _close(receive, send, answer, linger)

    async def _not_busy(self) -> None:
        """Nothing of a request is looked at while there is too much to do already: reading it first
        would cost as much as storing it."""
        if self._writer.uploads + self._learning >= MOST_WAITING:
            await asyncio.sleep(PATIENCE)
            raise ProblemError(problems.BUSY)

    async def _store(self, visit: Visit, body: bytes) -> UploadAnswer:
        """Read a body and have it stored; returns once it is durable."""
        sent, samples = read(body), visit.validator.samples
        if samples is not None:
            samples.bound(report.person for report in sent)
        taken = visit.validator.taken(sent, visit.now)
        charge = visit.charge(len(sent), taken.people)
        if samples is None:
            rows, refused, paid = taken.rows, taken.refused, None
        else:
            right, paid = await self._right(taken, samples, charge)
            rows, refused = among(taken, right)
        cost = None if charge is None else Cost(charge, len(refused), paid)
        outcomes: list[ReportOutcome] = []
        if rows or (cost is not None and cost.paid is None):
            outcomes = await self._writer.put(rows, cost)
        return self._accepted(rows, outcomes, refused)

    async def _right(
        self, taken: Taken, samples: Samples, charge: Charge | None
    ) -> tuple[set[Claim], Reservation | None]:
        """The claims that are right. What can only be checked with some work is paid for by the
        token before it is done."""
        known = {each: samples.right(*each) for each in taken.claims}
        right = {each for each, found in known.items() if found}
        unknown = claims(each for each, found in known.items() if found is None)
        if not unknown:
            return right, None
        self._learning += 1
        try:
            with samples.room(unknown):
                paid = await self._writer.reserve(charge) if charge else None
                return right | await samples.learn(unknown), paid
        finally:
            self._learning -= 1

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

    def _raised(self, error: Exception, visit: Visit | None) -> UploadAnswer:
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


_PROBLEMS = {
    problem.name: problem
    for problem in (problems.MECHANISM, problems.EPOCH, problems.CELLS, problems.CONFLICT)
}


async def _say(send: Send, answer: UploadAnswer) -> None:
    headers = answer.headers()
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})


async def _close(receive: Receive, send: Send, answer: UploadAnswer, linger: float) -> None:
    """Answer at once, drop the rest of the body for so many seconds, then end the connection."""
    headers = [*answer.headers(), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content, "more_body": True})
    await drop(receive, linger)
    await send({"type": "http.response.body", "body": b""})
