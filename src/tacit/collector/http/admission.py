"""Admission of requests: authorization before a body is read, and limits while it is read."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from tacit.collector.ingest import problems
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.problems import Problem, ProblemError
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.limits.limits import Charge
from tacit.wire.report import LONGEST_UPLOAD

# Reading of request bodies with limits on size and time that are enforced while streaming.

BODY_SECONDS = 15.0
"""Seconds for a complete body, and for discarding the rest of a refused one."""
MOST_HELD = 1 << 26
"""Bytes of all incomplete bodies. Slow clients hold little, and must not block others."""


def check_media(
    headers: Mapping[bytes, bytes],
    media_type: bytes = b"application/json",
    problem: Problem = problems.MEDIA,
) -> None:
    """Raise `ProblemError` with `problem` for any media type but `media_type`.

    A body that cannot be measured on arrival, such as a compressed one, is not read.
    """
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media != media_type or b"content-encoding" in headers:
        raise ProblemError(problem)


class Bodies:
    """Reads bodies. `held`: bytes of all incomplete bodies."""

    def __init__(self) -> None:
        self.held = 0
        self._late: set[asyncio.Task[Any]] = set()

    async def read(self, receive: Receive) -> bytes:
        """Return the body of an upload.

        Raises `ProblemError` for one that is too long or too slow, and `ClientDisconnect` if the
        client disconnects.
        """
        task = asyncio.current_task()
        assert task is not None
        # `asyncio.timeout` is equivalent but takes a tenth of an upload's time.
        clock = asyncio.get_running_loop().call_later(BODY_SECONDS, self._end, task)
        try:
            return await self._complete(receive)
        except asyncio.CancelledError:
            if task not in self._late or task.uncancel():  # the server is stopping
                raise
            raise ProblemError(problems.SLOW, linger=0) from None
        finally:
            self._late.discard(task)
            clock.cancel()

    def _end(self, task: "asyncio.Task[Any]") -> None:
        self._late.add(task)
        task.cancel()

    async def _complete(self, receive: Receive) -> bytes:
        message = await receive()
        if not message.get("more_body", False) and message["type"] == "http.request":
            return self._checked(message["body"])  # the usual case: it arrived with the headers
        parts = bytearray()
        try:
            return await self._rest(message, receive, parts)
        finally:
            self.held -= len(parts)

    async def _rest(self, message: Message, receive: Receive, parts: bytearray) -> bytes:
        while True:
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            part = message.get("body", b"")
            parts += part
            self.held += len(part)
            more = message.get("more_body", False)
            linger = BODY_SECONDS if more else 0  # nothing to discard after the last part
            if len(parts) > LONGEST_UPLOAD:
                raise ProblemError(problems.TOO_LARGE, linger=linger)
            if self.held > MOST_HELD:
                raise ProblemError(problems.BUSY, linger=linger)
            if not more:
                return bytes(parts)
            message = await receive()

    def _checked(self, body: bytes) -> bytes:
        if len(body) > LONGEST_UPLOAD:
            raise ProblemError(problems.TOO_LARGE)
        return body


async def drop(receive: Receive, seconds: float) -> None:
    """Read and discard the rest of a body.

    A client that is still sending would not receive the answer if its connection were closed.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await receive()).get("more_body", False):
                pass


SPENT_SECONDS = 60.0
"""Seconds for which an exhausted token is remembered, so that its requests are not read."""


class Visit(NamedTuple):
    """An authorized client at a moment.

    `token`: its SHA-256, None where tokens are not required.
    """

    validator: ReportValidator
    now: float
    token: bytes | None

    def charge(self, reports: int, people: frozenset[bytes]) -> Charge | None:
        """Return the token's cost of an upload; None without limits."""
        if self.token is None:
            return None
        return Charge(self.token, self.validator.counted, self.now, reports, people)


class Admission:
    """Authorizes requests by task and token. `clock`: Unix seconds."""

    def __init__(
        self,
        validators: Mapping[str, ReportValidator],
        clock: Callable[[], float],
        enrolment: Enrolment | None = None,
    ) -> None:
        self._validators, self._clock, self._enrolment = validators, clock, enrolment
        self._spent: dict[tuple[bytes, bytes], float] = {}

    async def let_in(self, task: str, headers: Mapping[bytes, bytes]) -> Visit:
        """Return the authorized visit. Raises `ProblemError` for any other request."""
        validator = self._validators.get(task)
        if validator is None:
            raise ProblemError(problems.NO_SUCH_TASK)
        now = self._clock()
        token = await self._enrolment.admit(headers) if self._enrolment else None
        if token is not None and now < self._spent.get((token, validator.counted), now):
            raise ProblemError(problems.LIMIT)
        check_media(headers)
        return Visit(validator, now, token)

    def spent(self, visit: Visit) -> None:
        """Record that the token of a visit is exhausted."""
        if visit.token is not None:
            self._spent[visit.token, visit.validator.counted] = visit.now + SPENT_SECONDS
