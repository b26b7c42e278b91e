"""uvicorn configured for a collector. Whatever it cannot configure is left to the proxy."""

import gc
import socket
import sys
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from tacit.errors import RequestError

MOST_CONNECTIONS = 4096
KEEP_ALIVE_SECONDS = 75
"""Longer than the keep-alive of proxies: the client of a connection must be the one to close it."""
SWITCH_SECONDS = 2e-5


def listening(host: str, port: int) -> socket.socket:
    """Return a socket bound to that address. Port 0 is any free port.

    Raises `RequestError` if the address is in use, or not on this machine.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise RequestError(
            f"The collector cannot listen on {host} port {port} ({error.strerror}); choose "
            "another --port or --host."
        ) from None
    return listener


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM, then store pending reports."""
    run(server_of(app, listener), listener)


def server_of(app: ASGIApp, listener: socket.socket) -> uvicorn.Server:
    """Return the server of an application, which does not run yet."""
    host, port = listener.getsockname()[:2]
    return uvicorn.Server(configured(app, host, port))


def run(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until Ctrl-C, SIGTERM or `server.should_exit`. Closes the socket."""
    # Parsing allocates millions of small objects without cycles. Python's default threshold of 700
    # would spend more time on cycle collection than on parsing.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    # The writer acquires Python's lock five times per commit, and would wait 5 ms each time.
    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(KeyboardInterrupt):  # uvicorn raises it once everything has ended
        server.run(sockets=[listener])


def configured(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    """Return uvicorn's settings for a collector.

    No access log, which would hold addresses; no trust in forwarded-for; no server header; one
    process, because it owns the store.
    """
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        log_config=None,  # logging is configured by the application, not by a library
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=10,
    )
