"""A provider for the page's tests: the page itself, a task, a model, and what was sent to it."""

import json
import threading
from array import array
from collections.abc import Iterator
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tacit
from tacit.channels import compile
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.scale import RatingScale
from tacit.wire.item_model import ItemDraw, ItemModel
from tacit.wire.task import Task

PAGE = Path(tacit.__file__).parent / "page"
POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
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
        compile(mechanism, epsilon=e, scale=STARS, missing=plan != "rated") for e in ("0.5", "1")
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
    """Serves one task; `bodies` and `tokens` are all that was posted, in order."""

    def __init__(self, task: Task) -> None:
        self.task, self.model = task, published().to_bytes()
        self.bodies: list[str] = []
        self.tokens: list[str | None] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    @property
    def documents(self) -> dict[str, bytes]:
        """What is served besides the page, by path."""
        task, model = self.task.address, sha256(self.model).hexdigest()
        return {
            "/v1/tasks": json.dumps({"tasks": [task]}).encode(),
            f"/v1/tasks/{task}": self.task.document,
            f"/v1/tasks/{task}/model": json.dumps({"model": model}).encode(),
            f"/v1/models/{model}": self.model,
        }

    def _handler(self) -> type[SimpleHTTPRequestHandler]:
        provider = self

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *request: Any) -> None:
                super().__init__(*request, directory=str(PAGE))

            def log_message(self, *_: Any) -> None:
                """Nothing is logged."""

            def end_headers(self) -> None:
                self.send_header("content-security-policy", POLICY)
                super().end_headers()

            def do_GET(self) -> None:
                document = provider.documents.get(self.path)
                super().do_GET() if document is None else self.give(document)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                provider.bodies.append(body.decode())
                provider.tokens.append(self.headers["authorization"])
                self.give(b"{}")

            def give(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler


@pytest.fixture
def provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """A provider of `question`; another plan by `indirect` parametrisation."""
    provider = Provider(question(*getattr(request, "param", ())))
    yield provider
    provider.server.shutdown()
    provider.server.server_close()
