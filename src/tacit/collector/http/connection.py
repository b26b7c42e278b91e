"""Uploads that came whole, answered where they arrive.

uvicorn makes a scope, a cycle and a task of every request, and an upload needs none of them.
Whatever is not plainly an upload, or comes in parts, goes that way all the same, to the
application, which answers uploads under any other server too.
"""

import math
from functools import lru_cache
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from tacit.collector.http.middleware import Middleware, task_of
from tacit.collector.http.upload import ACCEPTED, UploadAnswer, UploadHandler


class Whole:
    """An upload that is being stored: what uvicorn asks of its cycles, and no more."""

    def __init__(self, connection: HttpToolsProtocol) -> None:
        self._connection = connection
        self.keep_alive = True
        self.disconnected = self.response_complete = False
        self.message_event = self

    def set(self) -> None:
        """Nobody waits for more of it."""

    def answer(self, answer: UploadAnswer) -> None:
        """Say what became of it, and let the connection's next request begin."""
        self.response_complete = True
        if self.disconnected:
            return
        transport = self._connection.transport
        if self.keep_alive:
            transport.write(_ACCEPTED if answer is ACCEPTED else _written(answer))
        else:
            transport.write(_written(answer, b"connection: close\r\n"))
            transport.close()
        self._connection.on_response_complete()


class Connection(HttpToolsProtocol):
    """A connection that answers uploads itself, if they are whole before anything else happens.

    The parser calls back while it is fed. From the end of an upload's headers until it returns,
    `_came` holds what came of the body; where that is not all, uvicorn is told what it missed.
    """

    _came: bytes | None = None
    _upload: UploadHandler | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        app = cast(object, self.app)  # pyright: ignore[reportUnknownMemberType]
        self._upload = app.upload if isinstance(app, Middleware) else None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._came is not None:
            came, self._came = self._came, None
            super().on_headers_complete()
            super().on_body(came)

    def on_headers_complete(self) -> None:
        if self._is_plain_upload():
            self._came = b""
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._came is None:
            super().on_body(body)
        else:
            self._came += body

    def on_message_complete(self) -> None:
        if self._came is None:
            super().on_message_complete()
        else:
            body, self._came = self._came, None
            self._take(body)

    def _is_plain_upload(self) -> bool:
        """Whether the headers ask for nothing that uvicorn would have to do: wait for the answers
        to earlier requests or for a client that reads none, turn away one connection too many."""
        parser, cycle = self.parser, self.cycle
        assert parser is not None
        return (
            self._upload is not None
            and _task(self.url) is not None
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not self.expect_100_continue
            and (not cycle or cycle.response_complete)
            and not self.flow.write_paused
            and len(self.connections) < (self.limit_concurrency or math.inf)
        )

    def _take(self, body: bytes) -> None:
        upload, task = self._upload, _task(self.url)
        assert upload is not None
        assert task is not None
        whole = Whole(self)
        self.cycle = cast(RequestResponseCycle, whole)
        upload.take(task, dict(self.headers), body, whole.answer)


@lru_cache(maxsize=64)
def _task(url: bytes) -> str | None:
    """The task that takes uploads there; None also for what has a query or would be unquoted."""
    return None if set(url) & set(b"?#%") else task_of(url.decode("latin-1"))


def _written(answer: UploadAnswer, more: bytes = b"") -> bytes:
    headers = b"".join(b"%s: %s\r\n" % header for header in answer.headers())
    return STATUS_LINE[answer.status] + headers + more + b"\r\n" + answer.content


_ACCEPTED = _written(ACCEPTED)
