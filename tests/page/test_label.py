"""The label that a collector serves: found from its page, and open to everybody who reads it."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect
from visits import DESK, PHONE, violations

from tacit.cli.collecting.serve import made_up_people, made_up_task
from tacit.labels.simulated_attacks import found_by_attackers

pytestmark = pytest.mark.browser


@pytest.fixture
def demo():
    """The task of `tacit serve`."""
    return made_up_task(made_up_people(), "http://127.0.0.1:8000")


def visited(browser, url: str, **settings) -> Page:
    page = browser.new_context(**settings).new_page()
    page.on("console", lambda message: pytest.fail(message.text))
    page.goto(url)
    return page


def test_the_page_links_to_it(browser, provide, demo) -> None:
    provider = provide(demo)
    page = visited(browser, provider.url)
    page.locator("#catalogue").get_by_role("radio", name="5", exact=True).first.check(force=True)
    page.get_by_text("Full terms").click()
    page.get_by_role("link", name="Privacy label").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(demo.name)
    told = page.content()
    assert provider.task.address in told
    for one in found_by_attackers(provider.task):
        assert f"{one.value:.3f}" in told


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing(browser, provide, demo, size, colours) -> None:
    provider = provide(demo)
    label = f"{provider.url}v1/tasks/{provider.task.address}/label"
    page = visited(browser, label, viewport=size, color_scheme=colours)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_no_script_runs_on_it(browser, provide, demo) -> None:
    """Its policy would stop one, were a name to become markup."""
    provider = provide(replace(demo, name="<img src=x onerror=alert(1)>"))
    page = visited(browser, f"{provider.url}v1/tasks/{provider.task.address}/label")
    assert page.locator("img").count() == 0
    answer = page.request.get(page.url)
    assert "script-src" not in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
