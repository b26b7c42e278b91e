"""The shuffler as an ASGI application: one process, one writer, and the routes of its two sides.

Devices send bundles with an enrolment token of the shuffler. The provider downloads the batch with
a separate token. Everything else is public. Parts of the collector receive, authorize and store.
"""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from tacit.collector.http.admission import Bodies, check_media
from tacit.collector.http.app import EXCEPTION_HANDLERS
from tacit.collector.http.collector import A_MINUTE, FOR_EVER, meanwhile
from tacit.collector.http.logs import where
from tacit.collector.http.middleware import SecurityHeaders
from tacit.collector.http.upload import MOST_WAITING
from tacit.collector.ingest import problems
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.problems import Problem, ProblemError
from tacit.collector.ingest.readiness import Readiness
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.sqlite import SqliteStore
from tacit.collector.storage.store import ReportOutcome, StoreError
from tacit.device.shuffled.client import MEDIA_TYPE
from tacit.shuffler.batch_files import TOKENS
from tacit.shuffler.metrics import ShufflerState
from tacit.shuffler.shuffler import STORE, Shuffler, trusted_clock
from tacit.wire.shuffled.task import ShuffledTask, is_signed_token

log = logging.getLogger(__name__)

CHUNK = 1 << 20
"""Bytes of a batch that are sent at a time."""
OPENAPI = Path(__file__).with_name("openapi.json")
NO_STORE = {"cache-control": "no-store"}
MEDIA = replace(problems.MEDIA, detail=f"Send {MEDIA_TYPE} without a content-encoding.")
LENGTH = Problem("length", 422, "A bundle must have the exact length that its task requires.")
TOKEN = Problem("token", 422, "The task requires a token with a signature of its provider.")
CONFLICT = Problem("conflict", 409, "Another bundle of this token was stored; it is final.")
CLOSED = Problem("closed", 410, "The task is closed, so its batch accepts no more bundles.")
GONE = Problem("gone", 410, "The batch was not released, or was deleted.")
DELETING = Problem("deleting", 503, "Its bundles are being deleted; request the batch again.", 10)


class RunningShuffler(NamedTuple):
    """Components that live from the start of the application to its end."""

    writer: Writer
    readiness: Readiness
    state: ShufflerState


class ShufflerRoutes:
    """Routes of a shuffler. `people`, `providers`: enrolment of devices, and of the provider."""

    def __init__(self, shuffler: Shuffler, people: Enrolment, providers: Enrolment) -> None:
        self._shuffler, self._people, self._providers = shuffler, people, providers
        self._bodies = Bodies()
        self._refusals = Counter[str]()
        self._running: RunningShuffler | None = None

    @asynccontextmanager
    async def running(self, store: SqliteStore, every: float) -> AsyncGenerator[None]:
        """Accept bundles and close tasks during the block; finally store pending bundles.

        `every`: seconds between checks for tasks to close.
        """
        writer = Writer(store)
        readiness = Readiness(writer)
        state = ShufflerState(self._shuffler, writer, lambda: self._refusals)
        self._running = RunningShuffler(writer, readiness, state)
        log.info("The shuffler has started.", extra={"event": "started"})
        try:
            async with meanwhile(self._shuffler.keep(writer, every), readiness.watch()):
                yield
        finally:
            await writer.close()
            log.info("The shuffler has stopped.", extra={"event": "stopped"})

    @property
    def _components(self) -> RunningShuffler:
        assert self._running is not None, "the shuffler has not started"
        return self._running

    @property
    def _writer(self) -> Writer:
        return self._components.writer

    async def register(self, request: Request) -> Response:
        """GET /v1/register"""
        document = self._shuffler.register.document
        return Response(document, media_type="application/jsonl", headers=NO_STORE)

    async def task(self, request: Request) -> Response:
        """GET /v1/tasks/{task}; raises `ProblemError` for an unknown one."""
        document = self._task(request).document
        return Response(document, media_type="application/json", headers=FOR_EVER)

    async def bundle(self, request: Request) -> Response:
        """POST /v1/tasks/{task}/bundles; raises `ProblemError` for a refused bundle."""
        try:
            return await self._bundle(request)
        except ProblemError as error:
            self._refusals[error.problem.name] += 1
            raise
        except Exception as error:
            self._refusals[problems.FAILED.name] += 1
            kind = type(error).__name__  # the message may contain the input
            cause = f"{kind} at {where(error.__traceback__)}"
            log.error(
                "A bundle failed: %s.", kind, extra={"event": "bundle-failed", "cause": cause}
            )
            raise ProblemError(problems.FAILED) from None

    async def _bundle(self, request: Request) -> Response:
        task = self._open(request)
        if self._writer.uploads >= MOST_WAITING:
            raise ProblemError(problems.BUSY)
        headers = dict(request.scope["headers"])
        identity = await self._people.admit(headers)
        check_media(headers, MEDIA_TYPE.encode(), MEDIA)
        try:
            body = await self._bodies.read(request.receive)
        except ClientDisconnect:
            return Response(status_code=400)
        if len(body) != task.request_bytes:
            raise ProblemError(LENGTH)
        bundle, signed = body[: task.bundle_bytes], body[task.bundle_bytes :]
        if not is_signed_token(signed, task):
            raise ProblemError(TOKEN)
        self._open(request)  # the task may have been closed while the body arrived
        try:
            outcome = await self._shuffler.add(self._writer, task, identity, bundle, signed)
        except StoreError:
            raise ProblemError(problems.UNAVAILABLE) from None
        if outcome is ReportOutcome.CONFLICT:
            raise ProblemError(CONFLICT)
        return JSONResponse({})

    async def say_ready(self, request: Request) -> Response:
        """POST /v1/ready; raises `ProblemError` without a valid token."""
        identity = await self._people.admit(dict(request.scope["headers"]))
        try:
            await self._shuffler.add_ready(self._writer, identity)
        except StoreError:
            raise ProblemError(problems.UNAVAILABLE) from None
        return JSONResponse({})

    async def count_ready(self, request: Request) -> Response:
        """GET /v1/ready"""
        return JSONResponse({"ready": await self._shuffler.ready()}, headers=A_MINUTE)

    async def batch(self, request: Request) -> Response:
        """GET /v1/tasks/{task}/batch; raises `ProblemError` without a batch, or a valid token."""
        return await self._file(await self._released(request))

    async def tokens(self, request: Request) -> Response:
        """GET /v1/tasks/{task}/tokens; raises `ProblemError` as `batch`, and for a task without."""
        return await self._file((await self._released(request)).with_suffix(TOKENS))

    async def _file(self, path: Path) -> Response:
        try:
            batch = await asyncio.to_thread(path.open, "rb")
        except FileNotFoundError:
            raise ProblemError(GONE) from None
        size = {"content-length": str(os.fstat(batch.fileno()).st_size)}
        return StreamingResponse(_chunks(batch), media_type=MEDIA_TYPE, headers=NO_STORE | size)

    async def received(self, request: Request) -> Response:
        """DELETE /v1/tasks/{task}/batch; raises `ProblemError` as `batch`."""
        await self._released(request)
        await asyncio.to_thread(self._shuffler.delete, self._task(request).address)
        return JSONResponse({})

    async def health(self, request: Request) -> Response:
        """GET /healthz: liveness."""
        return PlainTextResponse("alive\n")

    async def ready(self, request: Request) -> Response:
        """GET /readyz: raises `ProblemError` if bundles cannot be stored, and why."""
        problem = await self._components.readiness.problem()
        if problem is not None:
            raise ProblemError(problem)
        return PlainTextResponse("ready\n")

    async def metrics(self, request: Request) -> Response:
        """GET /metrics"""
        return Response(self._components.state.text(), media_type=CONTENT_TYPE_LATEST)

    async def description(self, request: Request) -> Response:
        """GET /v1/openapi.json"""
        return Response(OPENAPI.read_bytes(), media_type="application/json", headers=A_MINUTE)

    def routes(self) -> list[Route]:
        """Return all routes."""
        batch = "/v1/tasks/{task}/batch"
        return [
            Route("/v1/register", self.register),
            Route("/v1/ready", self.count_ready),
            Route("/v1/ready", self.say_ready, methods=["POST"]),
            Route("/v1/tasks/{task}", self.task),
            Route("/v1/tasks/{task}/bundles", self.bundle, methods=["POST"]),
            Route(batch, self.batch),
            Route(batch, self.received, methods=["DELETE"]),
            Route("/v1/tasks/{task}/tokens", self.tokens),
            Route("/v1/openapi.json", self.description),
            Route("/healthz", self.health),
            Route("/readyz", self.ready),
            Route("/metrics", self.metrics),
        ]

    def _task(self, request: Request) -> ShuffledTask:
        task = self._shuffler.tasks.get(request.path_params["task"])
        if task is None:
            raise ProblemError(problems.NO_SUCH_TASK)
        return task

    def _open(self, request: Request) -> ShuffledTask:
        if self._shuffler.open_task(self._task(request).address) is None:
            raise ProblemError(CLOSED)
        return self._task(request)

    async def _released(self, request: Request) -> Path:
        await self._providers.admit(dict(request.scope["headers"]))
        address = self._task(request).address
        if (path := self._shuffler.batch(address)) is None:
            raise ProblemError(DELETING if self._shuffler.is_pending(address) else GONE)
        return path


def _chunks(batch: BinaryIO) -> Iterator[bytes]:
    """Yield the content of an open file and close it. Deleting its path does not truncate it."""
    with batch:
        while chunk := batch.read(CHUNK):
            yield chunk


def application(
    folder: Path,
    tasks: Sequence[ShuffledTask],
    people: Enrolment,
    providers: Enrolment,
    *,
    confirmed: bool = False,
    forgotten: Callable[[], None],
    every: float = 1.0,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> ASGIApp:
    """Return the application over a folder, which no other process may use.

    `tasks`: new ones; those of earlier runs are in the folder. `people`, `providers`: enrolment of
    devices and of the provider. `confirmed`: whether the machine's clock is right, whatever the
    stored time. `forgotten`: starts the program anew, after the bundles of a closed task were
    deleted, which memory may still contain. The batch is not available before. `every`: seconds
    between checks for tasks to close. `clock`: Unix seconds. `monotonic`: seconds since any moment.
    Raises `RequestError` for a folder in use and for invalid tasks, `DataError` for a damaged
    register.
    """
    store = SqliteStore(str(folder / STORE), sole=True)
    try:
        shuffler = Shuffler(folder, trusted_clock(store, clock, monotonic, confirmed), forgotten)
        shuffler.start(store, tasks)
    except BaseException:
        store.close()
        raise
    routes = ShufflerRoutes(shuffler, people, providers)
    app = Starlette(
        routes=routes.routes(),
        lifespan=lambda app: routes.running(store, every),
        exception_handlers=EXCEPTION_HANDLERS,
    )
    return SecurityHeaders(_for_pages(app))


def _for_pages(app: ASGIApp) -> ASGIApp:
    """Let pages of all origins send requests: no response depends on a cookie or an address."""
    return CORSMiddleware(
        app,
        allow_origins=["*"],
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
        max_age=86_400,
    )
