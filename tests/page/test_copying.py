"""The page offers to copy ratings of the provider's earlier question; nothing is sent by that."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from film_questions import TITLES, question
from playwright.sync_api import Browser, Page, Request, expect
from processes import free_port
from visits import PATIENCE, answer, posts, unfold, violations

from tacit.wire.tasks.task import Task

pytestmark = pytest.mark.browser


def rate(page: Page, title: str, level: str) -> None:
    unfold(page)
    film = page.locator("#catalogue li").filter(has_text=title)
    film.get_by_role("radio", name=level, exact=True).click()


@pytest.fixture
def opened(browser: Browser, serve_tasks, asked: list[Request]) -> Iterator[Callable[..., Page]]:
    """Serves tasks, the first one first, and opens the page of one user."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    context.on("request", lambda request: asked.append(request))
    page, port, servers = context.new_page(), free_port(), []

    def made(*tasks: Task) -> Page:
        for server in servers:
            server.stop()
        provider = f"http://127.0.0.1:{port}"
        servers.append(serve_tasks(port, *(replace(task, provider=provider) for task in tasks)))
        page.goto(provider)
        return page

    yield made
    context.close()


BEFORE = question()
NOW = replace(BEFORE, items=(99, *reversed(range(6))), titles=("A new film", *reversed(TITLES[:6])))


def test_ratings_are_copied_at_the_user_s_wish_and_sent_after_agreement(opened, asked) -> None:
    page = opened(BEFORE)
    for title, level in ((TITLES[0], "4"), (TITLES[5], "2"), (TITLES[7], "5")):
        rate(page, title, level)
    answer(page)
    before = len(asked)
    page = opened(NOW, BEFORE)
    expect(page.locator("#alert")).to_contain_text("has a new question")
    expect(page.locator("#earlier")).to_contain_text("your old and your new answers")
    assert violations(page) == []
    assert not [one for one in asked[before:] if "/tasks/" in one.url][2:]  # the task, its model

    page.get_by_role("button", name="Copy your ratings").click()
    expect(page.locator("#copied")).to_have_text("Copied: 2 ratings.")
    unfold(page)
    expect(page.locator("#catalogue input:checked")).to_have_count(2)
    expect(page.get_by_role("button", name="Agree and send 2 answers")).to_be_visible()
    assert len(posts(asked)) == 1

    answer(page)
    expect(page.locator("#earlier")).to_be_hidden()
    first, second = (json.loads(one.post_data or "")["reports"] for one in posts(asked))
    assert sorted(report["cells"][0][0] for report in second) == [1, 6]
    assert {report["person"] for report in first}.isdisjoint(each["person"] for each in second)


def test_without_earlier_ratings_there_is_no_offer(opened) -> None:
    page = opened(BEFORE)
    expect(page.locator("#rate")).to_be_visible()
    expect(page.locator("#earlier")).to_be_hidden()
    page = opened(NOW, BEFORE)
    expect(page.locator("#rate")).to_be_visible()
    expect(page.locator("#earlier")).to_be_hidden()


def test_the_earlier_question_may_be_gone(opened) -> None:
    page = opened(BEFORE)
    rate(page, TITLES[0], "4")
    answer(page)
    page = opened(NOW)
    expect(page.locator("#earlier")).to_be_visible()
    page.route("**/v1/tasks/*", lambda route: route.fulfill(status=404))
    page.get_by_role("button", name="Copy your ratings").click()
    expect(page.get_by_role("alert")).to_contain_text("404 instead of a document")
    expect(page.locator("#copied")).to_be_empty()
    expect(page.locator("#catalogue input:checked")).to_have_count(0)
