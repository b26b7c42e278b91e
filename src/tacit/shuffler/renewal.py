"""Replacement of a shuffler's program after a batch, so that its memory is not retained.

Python, SQLite and the web server free memory without overwriting it. After a closing, freed memory
still contains bundles in the order of their messages, and tokens next to them. `execve` gives the
process new memory, which the kernel has cleared. The listening socket stays open meanwhile: no
connection is refused, and devices send requests again that were interrupted.
"""

import os
import socket
import sys
from collections.abc import Sequence

import uvicorn

from tacit.collector.http.server import run

LISTENER = "TACIT_SHUFFLER_LISTENER"
"""Environment variable with the descriptor of the socket that the earlier program has left."""
ONCE = "--confirm-clock"
"""Option that holds for one start only."""


class Renewal:
    """Serves until the process ends, or until `request`, after which the program starts anew.

    `arguments`: command line of the program, the interpreter first; by default that of this one.
    """

    def __init__(self, arguments: Sequence[str] | None = None) -> None:
        command = sys.orig_argv if arguments is None else arguments
        self._arguments = [sys.executable, *(word for word in command[1:] if word != ONCE)]
        self._server: uvicorn.Server | None = None
        self._is_requested = False

    def request(self) -> None:
        """Stop serving, and start the program anew."""
        self._is_requested = True
        if self._server is not None:
            self._server.should_exit = True

    def serve(self, server: uvicorn.Server, listener: socket.socket) -> None:
        """Serve on a socket. Does not return after a request: the program starts anew.

        SIGTERM ends the process, whatever was requested.
        """
        self._server = server
        with listener.dup() as inherited:  # the server closes its own
            run(server, listener)
            if self._is_requested:
                inherited.set_inheritable(True)
                os.environ[LISTENER] = str(inherited.fileno())
                sys.stdout.flush()
                # The kernel closes all other descriptors, and so releases the lock of the store.
                os.execv(sys.executable, self._arguments)


def inherited_listener() -> socket.socket | None:
    """Return the socket of the program that this one has replaced; None in a new process."""
    descriptor = os.environ.pop(LISTENER, None)
    return None if descriptor is None else socket.socket(fileno=int(descriptor))
