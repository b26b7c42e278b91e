"""uvicorn as it comes, set up for a collector; what it has no setting for is the proxy's part."""

import gc
import socket
import sys
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from tacit.errors import RequestError

MOST_CONNECTIONS = 4096
KEEP_ALIVE_SECONDS = 75
"""Longer than a proxy keeps a connection: whoever sends on it must be the one who closes it."""
SWITCH_SECONDS = 2e-5


def listening(host: str, port: int) -> socket.socket:
    """A socket at that address, which nobody else can take any more; port 0 is any free one.

    Raises `RequestError` where it is taken already, or none of this machine's.
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
    """Serve until it is told to stop, by Ctrl-C or SIGTERM; then what waits is stored."""
    host, port = listener.getsockname()[:2]
    # Parsing makes and drops small objects by the million, none of them in a cycle: looking for
    # cycles every 700 of them, as Python would, costs more than the parsing.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    # The writer wants Python's lock five times a commit, and would wait 5 ms each time.
    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(KeyboardInterrupt):  # uvicorn raises it once everything has ended
        uvicorn.Server(configured(app, host, port)).run(sockets=[listener])


def configured(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    """uvicorn's settings for a collector. No access log: it would hold addresses; no trust in
    forwarded-for, no server header, one process, because it owns the store."""
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
        log_config=None,  # logging belongs to who runs the process, not to a library
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=10,
    )
