"""Reading a body with limits that hold while it streams, whatever its headers say."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from tacit.collector.http import problems
from tacit.collector.http.problems import ProblemError
from tacit.wire.report import LONGEST_UPLOAD

BODY_SECONDS = 15.0
"""For how long a body may take; and for how long the rest of one that is refused is dropped."""
MOST_HELD = 1 << 26
"""Bytes of unfinished bodies together; slow ones hold little, and must not keep others out."""


def check_media(headers: Mapping[bytes, bytes]) -> None:
    """Raises `ProblemError` for anything but plain JSON: what cannot be counted as it arrives, such
    as a compressed body, is not read at all."""
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media != b"application/json" or b"content-encoding" in headers:
        raise ProblemError(problems.MEDIA)


class Bodies:
    """Reads bodies, and knows how much it holds of those that are not complete. `held`: bytes."""

    def __init__(self) -> None:
        self.held = 0
        self._late: set[asyncio.Task[Any]] = set()

    async def read(self, receive: Receive) -> bytes:
        """The body of an upload. Raises `ProblemError` for one that is too long or too slow, and
        `ClientDisconnect` where the client is gone."""
        task = asyncio.current_task()
        assert task is not None
        # `asyncio.timeout` does the same, and would take a tenth of an upload's time.
        clock = asyncio.get_running_loop().call_later(BODY_SECONDS, self._end, task)
        try:
            return await self._whole(receive)
        except asyncio.CancelledError:
            if task not in self._late or task.uncancel():  # the server ends, not the patience
                raise
            raise ProblemError(problems.SLOW, linger=0) from None
        finally:
            self._late.discard(task)
            clock.cancel()

    def _end(self, task: "asyncio.Task[Any]") -> None:
        self._late.add(task)
        task.cancel()

    async def _whole(self, receive: Receive) -> bytes:
        message = await receive()
        if not message.get("more_body", False) and message["type"] == "http.request":
            return self._checked(message["body"])  # nearly always: it came with the headers
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
            linger = BODY_SECONDS if more else 0  # after the last part nothing is left to drop
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
    """Read what is left of a body and keep nothing of it: whoever still sends would not hear an
    answer if the connection were closed on them."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await receive()).get("more_body", False):
                pass
