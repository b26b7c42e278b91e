"""A provider for the page's tests: a collector with the page, a task and a model."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import uvicorn
from film_questions import film_model, question
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright
from processes import free_port
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from visits import AXE, CHROMIUM, PATIENCE, PHONE

from tacit.collector.http.app import application
from tacit.collector.http.server import configured
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.storage.published_models import PublishedModels
from tacit.labels.on_request import served
from tacit.wire.tasks.task import Task


def behind(collector: ASGIApp, site: Path) -> ASGIApp:
    """A site that has its own files, and hands on to a collector what is under /v1."""
    files = Starlette(routes=[Mount("/", StaticFiles(directory=site))])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        own = scope["type"] == "http" and not scope["path"].startswith("/v1/")
        await (files if own else collector)(scope, receive, send)

    return app


class Server:
    """An application on a port of this machine, in a thread."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.server = uvicorn.Server(configured(app, "127.0.0.1", port))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started and self.thread.is_alive():
            time.sleep(0.01)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()


class Provider(Server):
    """A collector of one task on a port of its own, with a model of it already published where it
    asks for stars.

    The task is asked by its origin. `tokens`: who may send; everybody unless given. `site`: the
    files of a site of its own, behind which the collector is. `origins`: of other sites whose pages
    may act as devices.
    """

    def __init__(
        self,
        folder: Path,
        task: Task,
        *tokens: str,
        site: Path | None = None,
        origins: Sequence[str] = (),
    ) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        self.task = task = replace(task, provider=self.url.rstrip("/"))
        self.models = PublishedModels(folder / "models")
        if not task.scale.has_one_level:
            self.models.publish(task.address, film_model())
        digests = [sha256(token.encode()).hexdigest() for token in tokens]
        enrolment = Enrolment(digests, most=100) if tokens else None
        app = application(
            str(folder / "reports.db"),
            [task],
            published=self.models,
            enrolment=enrolment,
            label=served,
            origins=origins,
        )
        super().__init__(app if site is None else behind(app, site), port)


@pytest.fixture
def provide(tmp_path: Path) -> Iterator[Callable[..., Provider]]:
    """Opens a provider of a given question."""
    opened: list[Provider] = []

    def made(task: Task, site: Path | None = None, origins: Sequence[str] = ()) -> Provider:
        opened.append(Provider(tmp_path, task, site=site, origins=origins))
        return opened[-1]

    yield made
    for one in opened:
        one.stop()


@pytest.fixture
def serve_files() -> Iterator[Callable[[Path, int], None]]:
    """Serves the files of a site without a collector on a port."""
    opened: list[Server] = []

    def served(folder: Path, port: int) -> None:
        opened.append(Server(Starlette(routes=[Mount("/", StaticFiles(directory=folder))]), port))

    yield served
    for one in opened:
        one.stop()


@pytest.fixture
def serve_tasks(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Serves tasks at a port, with a store of that port."""
    opened: list[Server] = []

    def served(port: int, *tasks: Task, origins: Sequence[str] = ()) -> Server:
        store = str(tmp_path / f"{port}.db")
        opened.append(Server(application(store, tasks, origins=origins), port))
        return opened[-1]

    yield served
    for one in opened:
        one.stop()


@pytest.fixture
def provider(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Provider]:
    """A provider of `question`; other plans and tokens by `indirect` parametrisation."""
    plan, mechanism, *tokens = getattr(request, "param", ("rated", "duchi"))
    provider = Provider(tmp_path, question(plan, mechanism), *tokens)
    yield provider
    provider.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, closed after each module: Playwright runs an event loop in this thread while it is
    open, beside which no test can open another."""
    assert CHROMIUM, "the page is tried in Chromium; install it"
    assert AXE.exists(), "`make check` installs axe, which looks for barriers"
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture
def asked() -> list[Request]:
    """Every request that the page made."""
    return []


@pytest.fixture
def page(browser: Browser, provider, asked) -> Iterator[Page]:
    """An empty tab at the provider's address; whatever the console complains of fails the test."""
    context = browser.new_context(viewport=PHONE)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(provider.url)
    yield page
    context.close()
    assert not [said for said in complaints if "Failed to load resource" not in said]
