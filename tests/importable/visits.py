"""What a person does on the page in a browser, and what is seen to leave it."""

import re
import shutil
from pathlib import Path

from playwright.sync_api import Page, Request, expect

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60_000
"""Milliseconds until a test gives up. It bounds a hang, and no test depends on it."""
FADED_IN = """async () => {
    const running = () => document.getAnimations().filter((each) =>
        each.playState === "running" && Number.isFinite(each.effect.getComputedTiming().endTime));
    while (running().length) await Promise.allSettled(running().map((each) => each.finished));
}"""
"""Waits for every transition. One that is cancelled, as its element is hidden, rejects."""
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


def unfold(page: Page) -> None:
    """Shows a catalogue of two dozen whole, on a screen of any width."""
    more = page.get_by_role("button", name="Show more", exact=True)
    page.locator("#catalogue li").first.wait_for()
    while more.count():
        more.click()


def agree(page: Page, choice: str = "Little noise", limit: str = "50") -> None:
    """Agrees, with which the first answers are sent."""
    page.get_by_role("radio", name=choice).check()
    page.get_by_text("Change the limit").click()
    page.get_by_label("Your lifetime limit").fill(limit)
    page.get_by_role("button", name="Agree and send").click()


def answer(page: Page, limit: str = "50") -> None:
    agree(page, limit=limit)
    expect(page.locator("#status")).to_contain_text("sent and stored")


def send(page: Page) -> None:
    page.get_by_role("button", name="Send").click()
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
    page.evaluate(FADED_IN)
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
