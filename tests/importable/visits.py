"""What a person does on the page in a browser, and what is seen to leave it."""

import re
from pathlib import Path

from playwright.sync_api import Page, Request, expect

AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


def start(page: Page, maximum: str = "1", limit: str = "50") -> None:
    page.get_by_label("Your maximum").fill(maximum)
    page.get_by_label("Your lifetime limit").fill(limit)
    page.get_by_role("button", name="Start").click()


def send(page: Page) -> None:
    page.get_by_role("button", name="Send answers").click()
    expect(page.locator("#status")).to_contain_text("sent and stored")


def erase(page: Page) -> None:
    page.get_by_role("button", name="Erase …").click()
    page.get_by_role("button", name="Erase", exact=True).click()


def posts(asked: list[Request], kind: str = "reports") -> list[Request]:
    return [one for one in asked if one.method != "GET" and one.url.endswith(f"/{kind}")]


def reports(asked: list[Request]) -> list[str]:
    bodies = ((one.post_data or "") for one in posts(asked))
    bodies = (body.removeprefix('{"reports":[').removesuffix("]}") for body in bodies)
    return [report for body in bodies for report in re.split(r',(?=\{"id")', body)]


def violations(page: Page) -> list[str]:
    page.wait_for_timeout(200)  # colours fade in
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
