"""Reading a body with a limit that holds while it streams, whatever its headers say."""

from collections.abc import Mapping
from typing import TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from tacit.collector.http import problems
from tacit.collector.http.problems import ProblemError
from tacit.wire.report import LONGEST_UPLOAD

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

    async def read(self, receive: Receive) -> bytes:
        """The body of an upload. Raises `ProblemError` for one that is too long. How long it may
        take is for `tacit.collector.http.server` to say."""
        message = await receive()
        if not message.get("more_body", False) and message["type"] == "http.request":
            return checked(message["body"])  # nearly always: it came with the headers
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
            checked(parts)
            if self.held > MOST_HELD:
                raise ProblemError(problems.BUSY)
            if not message.get("more_body", False):
                return bytes(parts)
            message = await receive()


Bytes = TypeVar("Bytes", bytes, bytearray)


def checked(body: Bytes) -> Bytes:
    """The body itself, or what there is of it. Raises `ProblemError` where it is too long."""
    if len(body) > LONGEST_UPLOAD:
        raise ProblemError(problems.TOO_LARGE)
    return body
