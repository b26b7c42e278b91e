"""How light the page is on a phone: what a first visit transfers, and how long it keeps the one
thread that answers to touches."""

import json
from array import array
from contextlib import ExitStack, closing
from random import Random

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect
from visits import agree

from tacit.cli.collecting.serve import made_up_people, made_up_task
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.item_model import ItemDraw, ItemModel
from tacit.wire.task import Task

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
MOST_BYTES = 200_000
MOST_MILLISECONDS = 100
SLOWER = 4
VISITS = 5


@pytest.fixture(scope="module")
def films():
    """300 of them, asked at three epsilons."""
    return made_up_task(made_up_people(), "http://127.0.0.1:8000")


@pytest.fixture
def opened(browser: Browser):
    """Opens empty tabs of a phone, each with a line to its browser and with nothing kept."""
    with ExitStack() as contexts:

        def tab() -> tuple[Page, CDPSession]:
            context = contexts.enter_context(closing(browser.new_context(viewport=PHONE)))
            page = context.new_page()
            return page, context.new_cdp_session(page)

        yield tab


def model_of(task: Task) -> ItemModel:
    """As large as what is learnt from 600 people."""
    rng, n, K = Random(1), len(task.items), 32

    def numbers(count: int) -> "array[float]":
        return array("f", [rng.uniform(-0.3, 0.3) for _ in range(count)])

    draw = ItemDraw(3.5, numbers(n), numbers(n * K), array("f", [2.0] * (1 + K)), numbers(0))
    return ItemModel(task.scale, task.items, K, "cells", 0.85, (draw,), NO_PRIVACY)


def transferred(line: CDPSession) -> dict[str, int]:
    """Bytes by address, headers included, as they come to be known."""
    names: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def ended(event) -> None:
        sizes[names[event["requestId"]]] = event["encodedDataLength"]

    line.on("Network.requestWillBeSent",
            lambda event: names.update({event["requestId"]: event["request"]["url"]}))  # fmt: skip
    line.on("Network.loadingFinished", ended)
    line.send("Network.enable")
    return sizes


def rows(page: Page):
    return page.locator("#catalogue li")


def test_a_first_visit_is_light_but_for_catalogue_and_model(opened, provide, films) -> None:
    page, line = opened()
    sizes = transferred(line)
    provider = provide(films)
    page.goto(provider.url)
    rows(page).first.wait_for()
    page.wait_for_load_state("networkidle")
    catalogue = sizes.pop(f"{provider.url}v1/tasks/{provider.task.address}")
    (model,) = (name for name in sizes if "/v1/models/" in name)
    del sizes[model]
    assert catalogue > len(provider.task.document)
    assert f"{provider.url}view/page.js" in sizes
    assert sum(sizes.values()) < MOST_BYTES


def longest(browser: Browser, opened: tuple[Page, CDPSession], url: str) -> float:
    """The longest task of a first visit, from loading to sending: the milliseconds that its thread
    had a core, whatever else the machine does."""
    page, line = opened
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    browser.start_tracing(page=page, categories=["toplevel"])
    page.goto(url)
    expect(page.locator("#recommendations li")).to_have_count(8)
    for place, level in enumerate("513"):
        rows(page).nth(place).get_by_role("radio", name=level, exact=True).check(force=True)
    expect(page.locator("#send")).to_contain_text("sends 3 answers")
    agree(page, "Some noise")
    expect(page.locator("#status")).to_contain_text("3 reports sent and stored")
    page.get_by_label("Search").fill("the")
    page.get_by_role("button", name="Show more", exact=True).click()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        one["tdur"] / 1000
        for one in events
        if (one["pid"], one["tid"]) in threads and one["name"].endswith("RunTask") and "tdur" in one
    ]
    assert len(tasks) > 100
    return max(tasks)


def test_a_slow_phone_is_never_kept_for_long(browser: Browser, opened, provide, films) -> None:
    """A busy machine makes a visit slower and none faster: the best of a few."""
    provider = provide(films)
    provider.models.publish(provider.task.address, model_of(provider.task))
    visits = (longest(browser, opened(), provider.url) for _ in range(VISITS))
    assert any(task <= MOST_MILLISECONDS for task in visits)
