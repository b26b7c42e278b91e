"""POST /v1/tasks/{task}/reports: refuse early, read with limits, and acknowledge once durable."""

import asyncio
import logging
from collections import Counter
from typing import NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from tacit.collector.http.admission import Admission, Bodies, Visit, drop
from tacit.collector.http.logs import where
from tacit.collector.http.metrics import Metrics
from tacit.collector.ingest import problems
from tacit.collector.ingest.commit import Cost
from tacit.collector.ingest.problems import MEDIA_TYPE, Problem, ProblemError
from tacit.collector.ingest.samples import Samples, claims
from tacit.collector.ingest.validation import Claim, Refused, Validated, among, read, refusal
from tacit.collector.ingest.writer import ExcessError, Writer
from tacit.collector.limits.limits import Charge, Reservation
from tacit.collector.storage.store import ReportOutcome, StoredReport, StoreError

log = logging.getLogger(__name__)

MOST_WAITING = 128
"""Most uploads waiting for a commit: a fraction of a second of work."""
MOST_SKEW = 1 << 20
"""Largest number of epochs in the histogram of clock skew."""
PATIENCE = 0.1
"""Seconds before a refusal is sent, which slows down clients that do not back off."""


class UploadAnswer(NamedTuple):
    """Response to an upload."""

    status: int
    content: bytes
    retry_after: int | None = None

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the HTTP header lines, names in lower case."""
        media = b"application/json" if self.status == 200 else MEDIA_TYPE
        headers = [(b"content-type", media), (b"content-length", b"%d" % len(self.content))]
        if self.retry_after is not None:
            headers.append((b"retry-after", b"%d" % self.retry_after))
        return headers


ACCEPTED = UploadAnswer(200, b"{}")


class UploadHandler:
    """Accepts reports. `counts`: answers by problem name, or "accepted"."""

    def __init__(self, admission: Admission, writer: Writer, metrics: Metrics) -> None:
        self._admission, self._writer, self._metrics = admission, writer, metrics
        self._learning = 0
        self.counts: Counter[str] = Counter(accepted=0)
        self._bodies = Bodies()

    async def __call__(self, task: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request to the task of an address."""
        visit, linger = None, None
        try:
            await self._not_busy()
            visit = await self._admission.let_in(task, dict(scope["headers"]))
            answer = await self._store(visit, await self._bodies.read(receive))
        except ClientDisconnect:
            return
        except Exception as error:
            answer = self._raised(error, visit)
            linger = error.linger if isinstance(error, ProblemError) else None
        if linger is None:
            await _respond(send, answer)
        else:
            await _close(receive, send, answer, linger)

    async def _not_busy(self) -> None:
        """Refuse requests without reading them under overload: reading costs as much as storing."""
        if self._writer.uploads + self._learning >= MOST_WAITING:
            await asyncio.sleep(PATIENCE)
            raise ProblemError(problems.BUSY)

    async def _store(self, visit: Visit, body: bytes) -> UploadAnswer:
        """Read a body and store its reports. Returns once they are durable."""
        self._metrics.body_bytes.observe(len(body))
        sent, samples = read(body), visit.validator.samples
        skew = max(report.epoch for report in sent) - visit.validator.task.epoch(visit.now)
        # An epoch is any integer until it is validated, and a float has no larger ones.
        self._metrics.clock_skew.observe(max(-MOST_SKEW, min(skew, MOST_SKEW)))
        if samples is not None:
            samples.bound(report.person for report in sent)
        accepted = visit.validator.validate(sent, visit.now)
        charge = visit.charge(len(sent), accepted.people)
        if samples is None:
            rows, refused, paid = accepted.rows, accepted.refused, None
        else:
            right, paid = await self._right(accepted, samples, charge)
            rows, refused = among(accepted, right)
        cost = None if charge is None else Cost(charge, len(refused), paid)
        outcomes: list[ReportOutcome] = []
        if rows or (cost is not None and cost.paid is None):
            outcomes = await self._writer.put(rows, cost)
        return self._accepted(rows, outcomes, refused)

    async def _right(
        self, upload: Validated, samples: Samples, charge: Charge | None
    ) -> tuple[set[Claim], Reservation | None]:
        """Return the valid claims. Expensive checks are charged to the token first."""
        known = {each: samples.right(*each) for each in upload.claims}
        right = {each for each, is_right in known.items() if is_right}
        unknown = claims(each for each, is_right in known.items() if is_right is None)
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
        """Acknowledge the upload, or list the reports that are not stored.

        All others are durable.
        """
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
        # Log where it failed, but not the error message: it may contain the input.
        kind = type(error).__name__
        cause = f"{kind} at {where(error.__traceback__)}"
        log.error("An upload failed: %s.", kind, extra={"event": "upload-failed", "cause": cause})
        return self._refused(problems.FAILED)

    def _refused(self, problem: Problem, refused: Refused | None = None) -> UploadAnswer:
        """Return a refusal: nothing is stored, or everything except the reports in `refused`."""
        self.counts[problem.name] += 1
        return UploadAnswer(problem.status, problem.document(refused), problem.retry_after)


_PROBLEMS = {
    problem.name: problem
    for problem in (problems.MECHANISM, problems.EPOCH, problems.CELLS, problems.CONFLICT)
}


async def _respond(send: Send, answer: UploadAnswer) -> None:
    headers = answer.headers()
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})


async def _close(receive: Receive, send: Send, answer: UploadAnswer, linger: float) -> None:
    """Answer at once, discard the rest of the body for `linger` seconds, then disconnect."""
    headers = [*answer.headers(), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content, "more_body": True})
    await drop(receive, linger)
    await send({"type": "http.response.body", "body": b""})
