"""A collector on a port of its own, in a thread of this process."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from tacit.collector.http.app import application


@contextmanager
def served(folder: Path, task, **settings) -> Iterator[str]:
    """A collector on a port of its own; gives its URL."""
    app = application(str(folder / "reports.db"), [task], **settings)
    # Uvicorn's own way with logs would close the streams of other handlers in this process.
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="on", log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
