"""A collector under a path of a host, behind the documented proxies and TLS: page, device and fleet
find it there, and ask for nothing beside it."""

import contextlib
import socket
import sqlite3
import time
from dataclasses import replace
from urllib.parse import urlsplit

import polars as pl
import pytest
from film_questions import film_model, question
from playwright.sync_api import expect
from processes import CollectorProcess, free_port
from proxies import NAME, ProxyProcess
from visits import CHROMIUM, PATIENCE, answer, erase, posts

from tacit import Client, synthetic
from tacit.collector.storage.published_models import PublishedModels
from tacit.planning.fleet import Fleet
from tacit.vocabulary import Vocabulary

pytestmark = pytest.mark.browser
PEOPLE = 5


class Place:
    """A collector at https://films.example:port/films/, as a task names it and in the network."""

    def __init__(self, kind, folder):
        upstream = free_port()
        self.proxy = ProxyProcess(kind, folder / kind, upstream, under_films=True)
        self.origin = f"https://{NAME}:{self.proxy.tls}"
        self.url = f"{self.origin}/films"
        self.task = replace(question(), provider=self.origin, start=int(time.time()) - 100)
        PublishedModels(folder / "models").publish(self.task.address, film_model())
        self.collector = CollectorProcess(
            folder, self.task, at=upstream, publish=str(folder / "models")
        )

    def reports(self) -> int:
        with contextlib.closing(sqlite3.connect(self.collector.db)) as store:
            return store.execute("SELECT count(*) FROM reports").fetchone()[0]

    def stop(self):
        self.collector.kill()
        self.proxy.stop()


@pytest.fixture(params=["nginx", "caddy"])
def place(request, tmp_path, monkeypatch):
    """Its name leads to this machine, and its certificate is trusted."""
    opened = Place(request.param, tmp_path)
    asked = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: asked("127.0.0.1" if host == NAME else host, *rest, **more),
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(opened.proxy.folder / "fullchain.pem"))
    yield opened
    opened.stop()


@pytest.fixture
def page(browser, place):
    here = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
    chromium = browser.browser_type.launch(executable_path=CHROMIUM, args=[here])
    context = chromium.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    chromium.close()


def test_the_page(place, page):
    asked = []
    page.on("request", lambda one: asked.append(one))
    page.goto(place.url)
    assert page.url == f"{place.url}/"
    first = page.locator("#catalogue li").first
    first.get_by_role("radio", name="5", exact=True).check(force=True)
    expect(page.locator("#recommendations li")).to_have_count(8)
    answer(page)
    assert len(posts(asked)) == 1
    assert {urlsplit(one.url).path[:7] for one in asked} == {"/films", "/films/"}
    assert {f"{one.scheme}://{one.netloc}" for one in (urlsplit(each.url) for each in asked)} == {
        place.origin
    }
    assert place.reports() == 1
    databases = page.evaluate("indexedDB.databases().then((all) => all.map(({ name }) => name))")
    assert databases == [f"tacit {place.url}"]
    erase(page)
    expect(page.locator("#alert")).to_contain_text("confirmed that it erased what you had sent")


def test_a_device_and_a_fleet(place, tmp_path):
    with Client(tmp_path / "alice.db", place.url, most_epsilon="1", lifetime="50") as alice:
        alice.rate(1, "5")
        assert alice.sync().stored == 1
        assert len(alice.recommend(5)) == 5
    films = Vocabulary(pl.Series("id", place.task.items))
    world = synthetic(PEOPLE, len(films), 12 * PEOPLE, place.task.scale, fewest=5)
    people = replace(world, item_ids=films)
    fleet = Fleet(url=place.url, most_epsilon="1", lifetime="1000", threads=2)
    fleet.report(people, people.n_users)
    assert place.reports() == 1 + len(people)
