"""Outermost layer of the collector: dispatch of uploads, and security headers for the rest."""

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = {
    "content-security-policy": (
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Same origin only, no framing, no MIME sniffing."""


REPORTS = re.compile(r"/v1/tasks/([^/]+)/reports")


Upload = Callable[[str, Scope, Receive, Send], Awaitable[None]]
"""Answer one upload to the task of an address."""


class SecurityHeaders:
    """Adds the headers of `POLICY` to all responses of `app`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        await self._app(scope, receive, _with_policy(send) if is_http else send)


class Middleware:
    """Dispatches uploads, the most frequent requests, without matching the other routes.

    `upload`: answers uploads. `rest`: answers all other requests, with the headers of `POLICY`.
    """

    def __init__(self, upload: Upload, rest: ASGIApp) -> None:
        self._upload, self._rest = upload, SecurityHeaders(rest)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        if is_post and (task := task_of(scope["path"])) is not None:
            await self._upload(task, scope, receive, send)
        else:
            await self._rest(scope, receive, send)


@lru_cache(maxsize=64)
def task_of(path: str) -> str | None:
    """Return the task that accepts uploads at this path, None if none."""
    match = REPORTS.fullmatch(path)
    return match[1] if match else None


def _with_policy(send: Send) -> Send:
    async def policed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in POLICY.items():
                headers.setdefault(name, value)
        await send(message)

    return policed
