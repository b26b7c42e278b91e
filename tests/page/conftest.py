"""A provider for the page's tests: a collector with the page, a task and a model."""

import shutil
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
import uvicorn
from playwright.sync_api import Browser, sync_playwright
from processes import free_port

from tacit.channels import compile_channel
from tacit.collector.http.app import application
from tacit.collector.http.enrolment import Enrolment
from tacit.collector.http.server import configured
from tacit.collector.storage.published_models import PublishedModels
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.scale import RatingScale
from tacit.wire.item_model import ItemDraw, ItemModel
from tacit.wire.task import Task

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
STARS = RatingScale.parse("1:5:1")
TITLES = (
    "Metropolis", "The General", "Sunrise", "Nosferatu", "Faust", "Potemkin", "The Gold Rush",
    "City Lights", "M", "It Happened One Night", "The 39 Steps", "Modern Times", "Stagecoach",
    "The Rules of the Game", "Rebecca", "His Girl Friday", "Citizen Kane", "Casablanca",
    "Brief Encounter", "Les Enfants du paradis", "Notorious", "The Third Man", "Rashômon",
    "Vertigo",
)  # fmt: skip


def question(plan: str = "rated", mechanism: str = "duchi") -> Task:
    """24 films; Duchi's tables have the symbols 0 and 1 alone, and no rating from 2 up is one."""
    tables = tuple(
        compile_channel(mechanism, epsilon=e, scale=STARS, missing=plan != "rated")
        for e in ("0.5", "1")
    )
    items = tuple(range(len(TITLES)))
    return Task(
        name="Films", scale=STARS, plan=plan, items=items, titles=TITLES, channels=tables, start=0
    )


def published() -> ItemModel:
    rng, n, K = Random(1), len(TITLES), 2

    def numbers(count: int) -> "array[float]":
        return array("f", [rng.uniform(-1, 1) for _ in range(count)])

    draw = ItemDraw(3.5, numbers(n), numbers(n * K), array("f", [2.0] * (1 + K)), numbers(0))
    return ItemModel(STARS, tuple(range(n)), K, "cells", 0.85, (draw,), NO_PRIVACY)


class Provider:
    """A collector of one task on a port of its own, with a model of it already published.

    The task is asked by its origin. `tokens`: who may send; everybody unless given.
    """

    def __init__(self, folder: Path, task: Task, *tokens: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        self.task = task = replace(task, provider=self.url.rstrip("/"))
        models = PublishedModels(folder / "models")
        models.publish(task.address, published())
        digests = [sha256(token.encode()).hexdigest() for token in tokens]
        enrolment = Enrolment(digests, most=100) if tokens else None
        app = application(str(folder / "reports.db"), [task], published=models, enrolment=enrolment)
        self.server = uvicorn.Server(configured(app, "127.0.0.1", port))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started and self.thread.is_alive():
            time.sleep(0.01)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture
def provide(tmp_path: Path) -> Iterator[Callable[[Task], Provider]]:
    """Opens a provider of a given question."""
    opened: list[Provider] = []

    def made(task: Task) -> Provider:
        opened.append(Provider(tmp_path, task))
        return opened[-1]

    yield made
    for one in opened:
        one.stop()


@pytest.fixture
def provider(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Provider]:
    """A provider of `question`; other plans and tokens by `indirect` parametrisation."""
    plan, mechanism, *tokens = getattr(request, "param", ("rated", "duchi"))
    provider = Provider(tmp_path, question(plan, mechanism), *tokens)
    yield provider
    provider.stop()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    assert CHROMIUM, "the page is tried in Chromium; install it"
    assert AXE.exists(), "`make check` installs axe, which looks for barriers"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()
