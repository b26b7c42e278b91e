"""Privacy labels: pages with a task's guarantee, rendered once on first request."""

import asyncio
from collections.abc import Callable

from starlette.responses import HTMLResponse, Response

from tacit.collector.http import problems
from tacit.collector.http.problems import ProblemError
from tacit.wire.task import Task

MakeLabel = Callable[[Task], str]
"""Render the label of a task as HTML without external resources and scripts."""
HEADERS = {
    "cache-control": "public, max-age=3600",
    # Its style sheet is inline. Nothing else may be loaded, and no script runs.
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    ),
}


class Labels:
    """`make`: renders a label, None for a collector without labels."""

    def __init__(self, make: MakeLabel | None) -> None:
        self._make = make
        self._made: dict[str, asyncio.Task[str]] = {}

    async def __call__(self, task: Task) -> Response:
        """Return the label. Raises `ProblemError` without labels."""
        if self._make is None:
            raise ProblemError(problems.NOT_FOUND)
        if task.address not in self._made:
            # Rendering simulates attacks for seconds, in a thread, so that uploads do not wait.
            making = asyncio.to_thread(self._make, task)
            self._made[task.address] = asyncio.ensure_future(making)
        # A client that disconnects does not cancel the rendering for others.
        return HTMLResponse(await asyncio.shield(self._made[task.address]), headers=HEADERS)
