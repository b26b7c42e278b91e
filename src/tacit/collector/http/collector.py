"""The collector: its components while it runs, the API routes and the page."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from tacit.collector.http.admission import Admission
from tacit.collector.http.erasing import Erasing
from tacit.collector.http.metrics import Metrics, State
from tacit.collector.http.upload import UploadHandler
from tacit.collector.ingest import problems, retention
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.opening import Opened
from tacit.collector.ingest.problems import ProblemError
from tacit.collector.ingest.readiness import Readiness
from tacit.collector.ingest.validation import ReportValidator
from tacit.collector.ingest.writer import Writer
from tacit.collector.storage.published_models import PublishedModels
from tacit.collector.storage.store import Held
from tacit.errors import TacitError
from tacit.wire.tasks.loading import documents, loads
from tacit.wire.tasks.task import Task

log = logging.getLogger(__name__)

# Privacy labels: pages with a task's guarantee, rendered once on first request.

MakeLabel = Callable[[Task], str]
"""Render the label of a task as HTML without external resources and scripts."""
LABEL_HEADERS = {
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
            self._made[task.address].add_done_callback(partial(self._forget_failed, task.address))
        # A client that disconnects does not cancel the rendering for others.
        return HTMLResponse(await asyncio.shield(self._made[task.address]), headers=LABEL_HEADERS)

    def _forget_failed(self, address: str, made: "asyncio.Task[str]") -> None:
        """Let the next request render a label again."""
        if made.cancelled() or made.exception() is not None:
            del self._made[address]


FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}
A_MINUTE = {"cache-control": "public, max-age=60"}
PAGE = Path(__file__).parents[2] / "page"
OPENAPI = Path(__file__).with_name("openapi.json")


class RunningCollector(NamedTuple):
    """Components that live from the start of the application to its end."""

    validators: dict[str, ReportValidator]
    upload: UploadHandler
    erasing: Erasing
    readiness: Readiness
    metrics: Metrics
    state: State


class Collector:
    """State shared by the routes. `tasks`: newest first; older ones continue to be collected.

    So do the ancestors of tasks that extend others, which the list of tasks leaves out.

    `open_components`: opens store, clock and limits when the application starts.
    """

    def __init__(
        self,
        open_components: Callable[[], Opened],
        tasks: Sequence[Task],
        *,
        published: PublishedModels | None = None,
        enrolment: Enrolment | None = None,
        label: MakeLabel | None = None,
    ) -> None:
        self._open_components = open_components
        self._tasks = tuple(tasks)
        self._documents = {
            address: document for task in tasks for address, document in documents(task).items()
        }
        self._published = published
        self._enrolment = enrolment
        self._labels = Labels(label)
        self._started: RunningCollector | None = None

    @property
    def running(self) -> RunningCollector:
        """The running components, while the application runs."""
        assert self._started is not None, "the collector has not started"
        return self._started

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        """Open the store, collect reports, delete expired ones; finally store pending reports."""
        opened = self._open_components()
        metrics = Metrics()
        writer = Writer(opened.store, opened.limits, metrics.commit_seconds.observe)
        with ThreadPoolExecutor(1, "samples") as worker:
            try:
                validators = await self._validators(writer, worker)
                running = self._started = self._running(opened, writer, validators, metrics)
                turn = opened.limits.turn if opened.limits is not None else None
                served = {id(each): each for each in validators.values()}
                keeping = retention.keep(served.values(), writer, opened.clock, turn)
                log.info("The collector has started.", extra={"event": "started"})
                async with meanwhile(keeping, running.readiness.watch(), running.state.keep()):
                    yield
            finally:
                await writer.close()
                log.info("The collector has stopped.", extra={"event": "stopped"})

    def _running(
        self,
        opened: Opened,
        writer: Writer,
        validators: dict[str, ReportValidator],
        metrics: Metrics,
    ) -> RunningCollector:
        admission = Admission(validators, opened.clock, self._enrolment)
        upload, erasing = UploadHandler(admission, writer, metrics), Erasing(admission, writer)
        state = State(
            lambda: upload.counts,
            lambda: erasing.counts,
            writer,
            opened.clock,
            self._tasks,
            self._published,
            opened.db,
        )
        metrics.watch(state)
        return RunningCollector(validators, upload, erasing, Readiness(writer), metrics, state)

    async def _validators(
        self, writer: Writer, worker: ThreadPoolExecutor
    ) -> dict[str, ReportValidator]:
        known = await _known(writer)
        validators: dict[str, ReportValidator] = {}
        for task in self._tasks:
            known.append(task)
            held = await _held(writer, task, known)
            validator = ReportValidator(task, held, worker)
            # An item keeps its index, so a report to an ancestor is one to the task.
            ancestors = dict.fromkeys(task.ancestors if task.lineage else (), validator)
            validators = ancestors | validators | {task.address: validator}
        return validators

    async def upload(self, task: str, scope: Scope, receive: Receive, send: Send) -> None:
        """POST /v1/tasks/{task}/reports"""
        await self.running.upload(task, scope, receive, send)

    async def tasks(self, request: Request) -> Response:
        """GET /v1/tasks"""
        return JSONResponse({"tasks": [task.address for task in self._tasks]}, headers=A_MINUTE)

    async def task(self, request: Request) -> Response:
        """GET /v1/tasks/{task}; raises `ProblemError` for an unknown one."""
        document = self._requested(request)
        media_type = "application/jsonl" if b"\n" in document else "application/json"
        return Response(document, media_type=media_type, headers=FOR_EVER)

    async def label(self, request: Request) -> Response:
        """GET /v1/tasks/{task}/label; raises `ProblemError` for an unknown one."""
        return await self._labels(loads(self._requested(request)))

    def _requested(self, request: Request) -> bytes:
        document = self._documents.get(request.path_params["task"])
        if document is None:
            raise ProblemError(problems.NO_SUCH_TASK)
        return bytes(document)

    async def only_post(self, request: Request) -> Response:
        """Reject another method at an address of uploads or erasures.

        Raises `ProblemError`, always.
        """
        raise ProblemError(problems.METHOD)

    async def erase(self, request: Request) -> Response:
        """POST /v1/tasks/{task}/erasures"""
        return await self.running.erasing(request)

    async def newest(self, request: Request) -> Response:
        """GET /v1/tasks/{task}/model; raises `ProblemError` if none is published."""
        address = self._published and self._published.newest(request.path_params["task"])
        if not address:
            raise ProblemError(problems.NOT_FOUND)
        return JSONResponse({"model": address}, headers=A_MINUTE)

    async def model(self, request: Request) -> Response:
        """GET /v1/models/{model}; raises `ProblemError` for an unknown one."""
        content = self._published and self._published.model(request.path_params["model"])
        if not content:
            raise ProblemError(problems.NOT_FOUND)
        return Response(content, media_type="application/octet-stream", headers=FOR_EVER)

    async def description(self, request: Request) -> Response:
        """GET /v1/openapi.json"""
        return Response(OPENAPI.read_bytes(), media_type="application/json", headers=A_MINUTE)

    async def health(self, request: Request) -> Response:
        """GET /healthz: liveness."""
        return PlainTextResponse("alive\n")

    async def ready(self, request: Request) -> Response:
        """GET /readyz: readiness. Raises `ProblemError` if reports cannot be stored, and why."""
        problem = await self.running.readiness.problem()
        if problem is not None:
            raise ProblemError(problem)
        return PlainTextResponse("ready\n")

    async def metrics(self, request: Request) -> Response:
        """GET /metrics"""
        return Response(self.running.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    def routes(self) -> list[BaseRoute]:
        """Return the API routes, and the page for every other path."""
        return [
            Route("/v1/tasks/{task}/reports", self.only_post),
            Route("/v1/tasks/{task}/erasures", self.erase, methods=["POST"]),
            Route("/v1/tasks/{task}/erasures", self.only_post),
            Route("/v1/tasks", self.tasks),
            Route("/v1/tasks/{task}", self.task),
            Route("/v1/tasks/{task}/model", self.newest),
            Route("/v1/tasks/{task}/label", self.label),
            Route("/v1/models/{model}", self.model),
            Route("/v1/openapi.json", self.description),
            Route("/healthz", self.health),
            Route("/readyz", self.ready),
            Route("/metrics", self.metrics),
            Mount("/", GZipMiddleware(StaticFiles(directory=PAGE, html=True))),
        ]


async def _held(writer: Writer, task: Task, known: Sequence[Task]) -> Held:
    same = [each.document for each in known if each.question == task.question]
    return await writer.run(lambda store: store.hold(task.document, same))


async def _known(writer: Writer) -> list[Task]:
    """Return the tasks in the store, except those in obsolete formats."""
    known: list[Task] = []
    for held in await writer.run(lambda store: store.tasks()):
        with suppress(TacitError):
            known.append(loads(held.document))
    return known


@asynccontextmanager
async def meanwhile(*works: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    """Run coroutines during the block, and cancel them at the end."""
    running = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
