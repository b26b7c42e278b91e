"""Outermost layers of the collector: other origins, dispatch of uploads, and security headers."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
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
CONNECT = "{}; connect-src 'self' {}"
"""Content security policy of a page whose device sends to other origins, too."""


PREFLIGHT_SECONDS = 7200
"""Seconds for which a browser remembers what another origin may do."""
REPORTS = re.compile(r"/v1/tasks/([^/]+)/reports")


Upload = Callable[[str, Scope, Receive, Send], Awaitable[None]]
"""Answer one upload to the task of an address."""


class SecurityHeaders:
    """Adds the headers of `POLICY` to all responses of `app`.

    `successors`: origins that the provider of a task has moved to, where the page may then send.
    """

    def __init__(self, app: ASGIApp, successors: Sequence[str] = ()) -> None:
        self._app, self._policy = app, POLICY
        if successors:
            name = "content-security-policy"
            self._policy = POLICY | {name: CONNECT.format(POLICY[name], " ".join(successors))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        await self._app(scope, receive, _with_policy(send, self._policy) if is_http else send)


class Middleware:
    """Dispatches uploads, the most frequent requests, without matching the other routes.

    `upload`: answers uploads. `rest`: answers all other requests, with the headers of `POLICY`.
    `successors`: as in `SecurityHeaders`.
    """

    def __init__(self, upload: Upload, rest: ASGIApp, successors: Sequence[str] = ()) -> None:
        self._upload, self._rest = upload, SecurityHeaders(rest, successors)

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


class CrossOrigin:
    """Lets pages of listed origins use the API under `/v1/`, without cookies.

    The device of such a page answers tasks of this collector's origin. A browser does not let the
    pages of any other site read a response.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._listed = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After"],
            max_age=PREFLIGHT_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/v1/"):
            await self._listed(scope, receive, _varying(send))
        else:
            await self._app(scope, receive, send)


def _varying(send: Send) -> Send:
    # Shared caches must not answer one origin with a response to another.
    async def varied(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if "origin" not in headers.get("vary", "").lower():
                headers.add_vary_header("Origin")
        await send(message)

    return varied


def _with_policy(send: Send, policy: Mapping[str, str]) -> Send:
    async def policed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in policy.items():
                headers.setdefault(name, value)
            # A browser applies the policy with which it stored a page, also after a 304.
            if headers.get("content-type", "").startswith("text/html"):
                headers.setdefault("cache-control", "no-store")
        await send(message)

    return policed
