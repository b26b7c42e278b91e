"""The page of a provider that moved: it asks, and then sends from the old origin to the new one."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from film_questions import question
from playwright.sync_api import Browser, Page, Request, expect
from processes import free_port
from provider_keys import KEY
from visits import PATIENCE, PHONE, agree, erase, posts, send, unfold, violations

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, asked: list[Request]) -> Iterator[Callable[[str], Page]]:
    """Opens a new tab of one browser."""
    context = browser.new_context(viewport=PHONE)
    context.set_default_timeout(PATIENCE)

    def visited(url: str) -> Page:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request))
        page.goto(url)
        return page

    yield visited
    context.close()


def rate(page: Page, place: int, level: str) -> None:
    unfold(page)
    control = page.locator("#catalogue li").nth(place)
    control.get_by_role("radio", name=level, exact=True).click()


def answered(serve_tasks, visit, port):
    """A task with a key at a port, which a user has answered there. Nothing serves it any more."""
    origin = f"http://127.0.0.1:{port}"
    first = replace(question(), provider=origin, provider_key=KEY.public)
    before = serve_tasks(port, first)
    page = visit(origin)
    rate(page, 0, "4")
    agree(page)
    expect(page.locator("#status")).to_contain_text("sent and stored")
    page.close()
    before.stop()
    return first


def test_a_device_follows_only_after_its_user_agreed(serve_tasks, visit, asked) -> None:
    old, new = free_port(), free_port()
    origin, successor = (f"http://127.0.0.1:{port}" for port in (old, new))
    first = answered(serve_tasks, visit, old)

    moved = KEY.move(first, successor)
    serve_tasks(old, moved)
    serve_tasks(new, moved, origins=(origin,))
    page = visit(origin)
    expect(page.locator("#move")).to_contain_text(f"moved from {origin} to {successor}")
    expect(page.locator("#rate")).to_be_hidden()
    expect(page.locator("#send")).to_be_hidden()
    assert violations(page) == []
    assert [one.url for one in asked if one.url.startswith(successor)] == []
    page.get_by_role("button", name=f"Send to {successor} from now on").click()
    expect(page.locator("#move")).to_be_hidden()
    rate(page, 1, "2")
    send(page)

    page.close()
    page = visit(origin)
    expect(page.locator("#reports .entry")).to_have_count(2)
    expect(page.locator("#move")).to_be_hidden()
    rate(page, 2, "5")
    send(page)
    sent = [(one.url.split("/v1")[0], json.loads(one.post_data or "")) for one in posts(asked)]
    assert [to for to, _ in sent] == [origin, successor, successor]
    people = {report["person"] for _, body in sent for report in body["reports"]}
    assert len(people) == 1
    assert [report["cells"][0][0] for _, body in sent for report in body["reports"]] == [0, 1, 2]

    erase(page)
    expect(page.locator("#alert")).to_contain_text("erased")
    (request,) = posts(asked, "erasures")
    assert request.url == f"{successor}/v1/tasks/{first.address}/erasures"


def test_before_agreeing_the_data_can_be_erased(serve_tasks, visit, asked) -> None:
    """The request goes where the reports went."""
    old = free_port()
    origin = f"http://127.0.0.1:{old}"
    first = answered(serve_tasks, visit, old)
    serve_tasks(old, KEY.move(first, "https://next.example"))
    page = visit(origin)
    erase(page)
    expect(page.locator("#alert")).to_contain_text("spent is kept: 1 for all your values together")
    expect(page.locator("#move")).to_be_visible()
    (request,) = posts(asked, "erasures")
    assert request.url == f"{origin}/v1/tasks/{first.address}/erasures"
    assert not [one for one in asked if "next.example" in one.url]
