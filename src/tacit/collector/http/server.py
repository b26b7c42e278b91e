"""uvicorn, with a patience of its own: slow or endless headers end, and nothing is logged of
who asked."""

import asyncio
import gc
import math
import sys
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from tacit.collector.http.connection import Connection

HEADER_SECONDS, BODY_SECONDS = 5.0, 15.0
HEADER_BYTES = 8192
MOST_CONNECTIONS = 4096
SWITCH_SECONDS = 2e-5


class TimedProtocol(Connection):
    """A connection that must bring a header within `HEADER_SECONDS` and `HEADER_BYTES`, and then
    the body within `BODY_SECONDS`; how long the body may be is for who reads it. What comes after
    a refusal is dropped until then: who hangs up on a client that sends is never heard."""

    _watch: asyncio.TimerHandle | None = None
    _until = math.inf
    _header_bytes = 0
    _in_header = True

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._until = self.loop.time() + HEADER_SECONDS
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_header:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._header_bytes and self._until == math.inf:  # a request has begun and not ended
            self._until = self.loop.time() + HEADER_SECONDS
        if self._in_header and self._header_bytes > HEADER_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_headers_complete(self) -> None:
        if self._header_bytes > HEADER_BYTES and self._header_length() > HEADER_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")
        else:
            self._in_header = False
            self._until = self.loop.time() + BODY_SECONDS
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_header, self._header_bytes, self._until = True, 0, math.inf
        super().on_message_complete()

    def _header_length(self) -> int:
        return sum(len(name) + len(value) for name, value in self.headers)

    def _look(self) -> None:
        """Whether its time is over. One timer a connection, not one a request: it is cheaper to
        look every few seconds than to start and stop a clock ten thousand times a second."""
        now = self.loop.time()
        if now >= self._until:
            self._refuse(b"408 Request Timeout")
        else:
            after = min(self._until - now, HEADER_SECONDS)
            self._watch = self.loop.call_later(after, self._look)

    def _refuse(self, status: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_header or not self.cycle.response_complete:
            answer = b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(answer)
        self.transport.close()


def serve(app: ASGIApp, host: str, port: int) -> None:
    """Serve until it is told to stop, by Ctrl-C or SIGTERM; then what waits is stored."""
    # Parsing makes and drops small objects by the million, none of them in a cycle: looking for
    # cycles every 700 of them, as Python would, costs more than the parsing.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    # The writer wants Python's lock five times a commit, and would wait 5 ms each time.
    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(KeyboardInterrupt):  # uvicorn raises it once everything has ended
        uvicorn.Server(configured(app, host, port)).run()


def configured(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    """uvicorn's settings for a collector. No access log: it would hold addresses; no trust in
    forwarded-for, no server header, one process, because it owns the store."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=TimedProtocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        log_config=None,  # logging belongs to who runs the process, not to a library
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=10,
    )
