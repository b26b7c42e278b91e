"""Reading a body with a limit that holds while it streams, whatever its headers say."""

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from tacit.collector import problems
from tacit.collector.problems import ProblemError
from tacit.wire.report import LONGEST_UPLOAD


async def read(scope: Scope, receive: Receive) -> bytes:
    """The body of an upload. Raises `ProblemError` for one that is too long or not plain JSON: what
    cannot be counted as it arrives, such as a compressed body, is not read at all. How long it may
    take is for `tacit.collector.server` to say."""
    headers = dict(scope["headers"])
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if media != b"application/json" or b"content-encoding" in headers:
        raise ProblemError(problems.MEDIA)
    parts: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > LONGEST_UPLOAD:
            raise ProblemError(problems.TOO_LARGE)
        if not message.get("more_body", False):
            return b"".join(parts)
