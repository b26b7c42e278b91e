"""The collector as an ASGI application: one process, one writer, answers to all errors."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tacit.collector.http.collector import Collector, MakeLabel
from tacit.collector.http.middleware import CrossOrigin, Middleware
from tacit.collector.http.signing import Signing, route
from tacit.collector.ingest import problems
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.opening import Opened, opened
from tacit.collector.ingest.problems import MEDIA_TYPE, Problem, ProblemError
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.store import ReportStore
from tacit.wire.tasks.task import Task


def application(
    store: str | Callable[[], ReportStore] | Opened,
    tasks: Sequence[Task],
    *,
    published: PublishedModels | None = None,
    enrolment: Enrolment | None = None,
    label: MakeLabel | None = None,
    origins: Sequence[str] = (),
    signing: Signing | None = None,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> ASGIApp:
    """Return the application over a store.

    `store`: an address for `open_store`, a function that opens one, or the opened components.
    `label`: renders the page with a task's guarantee, which the collector's page links to.
    `origins`: other origins whose pages may act as devices. `signing`: signs one-time tokens of
    shuffled tasks. `clock`: Unix seconds. `monotonic`: seconds since any moment.
    """

    def open_components() -> Opened:
        if isinstance(store, Opened):
            return store
        return opened(store, tasks, enrolment, wall=clock, monotonic=monotonic)

    collector = Collector(
        open_components, tasks, published=published, enrolment=enrolment, label=label
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            if signing is not None:
                await stack.enter_async_context(signing.running())
            await stack.enter_async_context(collector.lifespan(app))
            yield

    app = Starlette(
        routes=[route(signing), *collector.routes()],  # the page, the last one, has all other paths
        lifespan=lifespan,
        exception_handlers=EXCEPTION_HANDLERS,
    )
    successors = dict.fromkeys(move.successor for task in tasks for move in task.moves)
    answering = Middleware(collector.upload, app, list(successors))
    return CrossOrigin(answering, origins) if origins else answering


def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return _answer(error.problem, closing=error.linger is not None)


def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(problems.METHOD if error.status_code == 405 else problems.NOT_FOUND)


def _answer(problem: Problem, closing: bool = False) -> Response:
    headers = {"connection": "close"} if closing else {}
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    return Response(
        problem.document(), problem.status, media_type=MEDIA_TYPE.decode(), headers=headers
    )


EXCEPTION_HANDLERS: dict[Any, Any] = {ProblemError: _problem, HTTPException: _http_problem}
"""Handlers that answer with a problem document."""
