"""Labels: pages that say what a task promises, each made once, when it is first asked for."""

import asyncio
from collections.abc import Callable

from starlette.responses import HTMLResponse, Response

from tacit.collector.http import problems
from tacit.collector.http.problems import ProblemError
from tacit.wire.task import Task

MakeLabel = Callable[[Task], str]
"""The label of a task as HTML that fetches nothing and runs nothing."""
HEADERS = {
    "cache-control": "public, max-age=3600",
    # Its one style sheet is in it; nothing else may be loaded, and no script runs.
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    ),
}


class Labels:
    """`make`: what makes one, or None for a collector without labels."""

    def __init__(self, make: MakeLabel | None) -> None:
        self._make = make
        self._made: dict[str, asyncio.Task[str]] = {}

    async def __call__(self, task: Task) -> Response:
        """The label; raises `ProblemError` where there are none."""
        if self._make is None:
            raise ProblemError(problems.NOT_FOUND)
        if task.address not in self._made:
            # Attacks are played for it, for seconds: uploads do not wait meanwhile.
            making = asyncio.to_thread(self._make, task)
            self._made[task.address] = asyncio.ensure_future(making)
        # One visitor who leaves does not end what others wait for.
        return HTMLResponse(await asyncio.shield(self._made[task.address]), headers=HEADERS)
