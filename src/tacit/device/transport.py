"""HTTP transport to the collector: one persistent connection, timeouts, and size limits."""

import re
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from socket import SHUT_RDWR
from threading import Event, Thread
from typing import Protocol
from urllib.parse import urlsplit

from tacit.errors import DataError, RequestError
from tacit.wire.origin import is_private, origin_of

TIMEOUT = 15.0
"""Timeout of one step of a request, in seconds."""
DEADLINE = 120.0
"""Seconds until an answer must be complete, from the beginning of its request."""
MOST_ANSWER = 1 << 18
"""Most bytes of an answer, by default."""
MOST_WAIT = 86_400
"""Longest accepted Retry-After, in seconds."""

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")


@dataclass(frozen=True)
class Answer:
    """A status, the body, and the collector's Retry-After in seconds."""

    status: int
    body: bytes = b""
    retry_after: int = 0


class Transport(Protocol):
    """Sends a request; returns None without an answer, whether or not the request arrived."""

    def __call__(
        self, method: str, path: str, body: bytes | None = None, longest: int = MOST_ANSWER
    ) -> Answer | None: ...


class Http:
    """HTTP to the collector at `url`, by http.client; follows no redirect, stores no cookie.

    `insecure` allows http to another machine, but never with a token. `media_type`: of bodies that
    are sent. Raises `RequestError` for an
    invalid URL, and for unencrypted traffic that is not allowed; when called, `DataError` for an
    answer longer than `longest` bytes.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        insecure: bool = False,
        media_type: str = "application/json",
    ) -> None:
        private = is_private(origin_of(url))
        if token is not None and not _TOKEN.fullmatch(token):
            raise RequestError(
                "The token must be one line of printable ASCII characters without spaces."
            )
        if token is not None and not private:
            raise RequestError("Tokens are sent over https only; use the collector's https URL.")
        if not private and not insecure:
            raise RequestError(
                "Anyone on the network can read and change http traffic to another machine; use "
                "the collector's https URL, or set insecure=True."
            )
        parts = urlsplit(url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        self._prefix = parts.path.rstrip("/")
        self._media_type = media_type
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.failure: str | None = None
        """Why the last request has no answer, None if it has one."""

    def __call__(
        self, method: str, path: str, body: bytes | None = None, longest: int = MOST_ANSWER
    ) -> Answer | None:
        reused = self._connection.sock is not None
        answer = self._ask(method, path, body, longest)
        # A persistent connection may have been closed. Retrying is safe: the bytes are the same.
        return self._ask(method, path, body, longest) if answer is None and reused else answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _ask(self, method: str, path: str, body: bytes | None, longest: int) -> Answer | None:
        headers: Mapping[str, str] = self._headers
        if body is not None:
            headers = {**headers, "Content-Type": self._media_type}
        end = time.monotonic() + DEADLINE
        try:
            with _limited(self._connection):
                self._connection.request(method, self._prefix + path, body, headers)
                response = self._connection.getresponse()
                content = _read(response, longest, end)
        except (OSError, HTTPException) as error:
            self.close()
            self.failure = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return None
        self.failure = None
        if content is None:
            self.close()
            raise DataError(
                f"The collector's response is longer than {longest} bytes and was not read."
            )
        return Answer(response.status, content, _seconds(response.getheader("Retry-After")))


@contextmanager
def _limited(connection: HTTPConnection) -> Generator[None]:
    """Shut the socket down if the block takes longer than `DEADLINE`.

    A timeout of the socket is one of a single step: a server that sends a header line at a time
    could block a device, and the store that it has locked, indefinitely.
    """
    done = Event()

    def watch() -> None:
        left = DEADLINE
        while not done.wait(left):
            left = 1.0  # a connection that is being made has no socket yet
            with suppress(OSError, AttributeError):
                connection.sock.shutdown(SHUT_RDWR)

    Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _read(response: HTTPResponse, longest: int, end: float) -> bytes | None:
    """Return the body; None if it is too long. Raises `OSError` if it is too slow or truncated.

    `end`: moment of the deadline, of the monotonic clock.
    """
    content = bytearray()
    while chunk := response.read1(1 << 16):
        content += chunk
        if len(content) > longest:
            return None
    if time.monotonic() > end:
        raise TimeoutError
    if response.length:
        raise ConnectionError
    response.close()  # the connection can be reused
    return bytes(content)


def _seconds(text: str | None) -> int:
    return min(int(text), MOST_WAIT) if text and re.fullmatch("[0-9]{1,9}", text) else 0
