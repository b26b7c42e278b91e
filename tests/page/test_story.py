"""The page's first minute, as a person lives it on a phone and at a desk, by touch and by keys."""

import json
import re
import time

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from visits import PATIENCE, erase, posts, reports, violations

pytestmark = pytest.mark.browser

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
TRUTHS = {0: "5", 1: "4", 2: "2"}
SCREENS = 2
DAY = 86_400


class Hand:
    """Touches."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps = page, 0

    def press(self, target: Locator) -> None:
        target.scroll_into_view_if_needed()
        target.tap(force=True)
        self.taps += 1

    def pick(self, radios: Locator, value: str) -> None:
        self.press(radios.and_(self.page.locator(f"[value='{value}']")))


class Keys:
    """Presses keys alone: tabs to what is meant, and goes through radios by arrows."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps = page, 0

    def press(self, target: Locator) -> None:
        self._reach(target)
        self.page.keyboard.press("Enter")
        self.taps += 1

    def pick(self, radios: Locator, value: str) -> None:
        self._reach(radios)
        for _ in range(radios.count()):
            # A host of focused contents has the focus, too.
            focused = self.page.locator(":focus:not(tacit-consent)")
            if focused.get_attribute("value") == value:
                self.page.keyboard.press("Space")
                break
            self.page.keyboard.press("ArrowRight")
        self.taps += 1

    def _reach(self, targets: Locator) -> None:
        targets.first.wait_for()
        for _ in range(200):
            if targets.and_(self.page.locator(":focus")).count():
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no key leads to {targets}")


@pytest.fixture(params=[(PHONE, Hand), (PHONE, Keys), (DESK, Hand), (DESK, Keys)],
                ids=["phone-touch", "phone-keys", "desk-touch", "desk-keys"])  # fmt: skip
def person(request, browser: Browser, provider, asked):
    """Somebody on the page for the first time."""
    size, how = request.param
    # Colours that fade from one scheme to the other are neither for as long as the machine likes.
    context = browser.new_context(viewport=size, has_touch=True, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("request", lambda one: asked.append(one))
    page.goto(provider.url)
    page.locator("#catalogue li").first.wait_for()
    yield how(page)
    context.close()


def item(page: Page, place: int) -> Locator:
    return page.locator("#catalogue li").nth(place)


def whole(page: Page) -> None:
    """Nothing is amiss in either colour scheme, sticks out, or calls for a keyboard."""
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        assert violations(page) == []
    width = (page.viewport_size or {})["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    typing = page.locator("input:focus:is([type=text], [type=search]), textarea:focus")
    assert typing.count() == 0


def test_a_story_of_a_first_minute(person, asked) -> None:
    page = person.page
    expect(page.locator(".lead")).to_have_text(
        "Rate a few items to get recommendations. Nothing is sent unless you agree."
    )
    expect(page.locator("#rate")).to_contain_text("1 is “not for me”, 5 is “loved it”.")
    expect(page.locator("#send")).to_be_hidden()
    whole(page)

    # Rates three, and is told what suits them.
    for place, level in TRUTHS.items():
        person.pick(item(page, place).get_by_role("radio"), level)
        expect(item(page, place).locator("input:checked")).to_have_value(level)
        if place == 0:
            assert person.taps <= 3
            expect(page.locator("#recommendations li")).to_have_count(8)
    expect(page.locator("#recommendations")).to_contain_text("on this device from your ratings")
    expect(page.locator("#send")).to_contain_text("sends 3 answers")
    first = page.locator("#recommendations li").first.inner_text().splitlines()[0]
    if page.locator("#peek").is_visible():
        expect(page.locator("#peek")).to_be_in_viewport()
        expect(page.locator("#peek")).to_have_text(f"For you: {first}")
        person.press(page.locator("#peek"))
    expect(page.locator("#recommendations li").first).to_be_in_viewport()
    whole(page)

    # Chooses in words; the contract is one tap away.
    choices = page.locator(".choice input")
    expect(page.locator(".choice input:checked")).to_have_value("0.5")
    expect(page.locator(".choice").first).to_contain_text("63 %")
    expect(page.locator(".choice").last).to_contain_text("74 %")
    person.pick(choices, "1")
    expect(page.locator(".contract dl")).to_be_hidden()
    person.press(page.locator(".contract summary"))
    expect(page.locator(".contract dl")).to_contain_text("which items you rated")
    expect(page.get_by_label("Your lifetime limit")).to_be_hidden()
    whole(page)
    assert {one.method for one in asked} == {"GET"}

    # Agrees, with which it is sent.
    person.press(page.get_by_role("button", name="Agree and send 3 answers"))
    expect(page.locator("#status")).to_contain_text("3 reports sent and stored")
    expect(page.locator("#catalogue .fate:not(:empty)")).to_have_text(["sent"] * 3)
    expect(page.locator("#sync")).to_be_hidden()
    assert len(posts(asked)) == 1
    assert len(reports(asked)) == 3
    whole(page)

    # Changes a mind: the old answer stands, and it is said until when.
    person.pick(item(page, 0).get_by_role("radio"), "1")
    expect(item(page, 0).locator(".fate")).to_have_text(
        re.compile(
            r"Changed: your answer for 5 stars remains until you send this one, which you can "
            r"from \d+ [A-Z][a-z]+ 20\d\d on\."
        )
    )
    expect(page.locator("#ledger .entry").first).to_contain_text(" instead of 5.")
    person.press(item(page, 1).get_by_role("button"))
    expect(item(page, 1).locator(".fate")).to_have_text(
        re.compile(r"Cleared: your answer for 4 stars remains until .* 20\d\d, unless you erase\.")
    )
    expect(page.locator("#sync")).to_be_hidden()
    whole(page)

    # Comes back the day after.
    page.clock.set_fixed_time(time.time() + DAY)
    page.reload()
    told = page.locator(".home > :first-child")
    expect(told).to_contain_text("Sent3 answers, the last since")
    expect(told).to_contain_text("Cost3 of 100 spent: epsilon for all your values together")
    expect(told).to_contain_text("ResultA model trained on all users' answers.")
    expect(item(page, 0).locator(".fate")).to_have_text(
        "Changed: your answer for 5 stars remains until you send this one."
    )
    assert len(posts(asked)) == 1
    whole(page)
    person.press(page.get_by_role("button", name="Send 1 answer"))
    expect(page.locator("#status")).to_contain_text("1 report sent and stored")
    expect(item(page, 0).locator(".fate")).to_have_text("sent")

    # Takes along what the device holds, and erases it.
    with page.expect_download() as download:
        person.press(page.get_by_role("button", name="Export"))
    held = json.loads(download.value.path().read_text())
    assert {one["place"]: one["level"] for one in held["ratings"]} == {0: "1", 2: "2"}
    person.press(page.get_by_role("button", name="Erase …"))
    whole(page)
    person.press(page.get_by_role("button", name="Erase", exact=True))
    expect(page.locator("#alert")).to_contain_text("spent is kept: 4 for all your values together")
    expect(page.locator("#catalogue input:checked")).to_have_count(0)
    expect(page.locator("#reports")).to_be_hidden()
    expect(page.locator("#rate-title")).to_be_focused()
    whole(page)


@pytest.mark.parametrize("provider", [("catalogue", "randomized-response")], indirect=True)
def test_nothing_that_leaves_says_more_than_the_reports_do(page: Page, provider, asked) -> None:
    """What two people who rate the opposite send differs in names and symbols alone: the same
    requests in the same order, to the same addresses, with the same headers."""
    hidden = re.compile(r'"[0-9a-f]{32}"|(?<=,)\d(?=\])')
    traces: list[list[tuple[str, str, dict[str, str], str]]] = []
    for level in ("1", "5"):
        page.reload()
        page.wait_for_load_state("networkidle")
        asked.clear()
        for place in TRUTHS:
            control = item(page, place)
            control.get_by_role("radio", name=level, exact=True).check(force=True)
        page.wait_for_load_state("networkidle")
        assert not asked
        page.get_by_role("button", name="Agree and send 24 answers").click()
        expect(page.locator("#status")).to_contain_text("1 report sent and stored")
        bodies = [hidden.sub("_", one.post_data or "") for one in asked]
        lines = [(one.method, one.url, one.headers) for one in asked]
        traces.append([(*line, body) for line, body in zip(lines, bodies, strict=True)])
        erase(page)
        expect(page.locator("#alert")).to_contain_text("confirmed that it erased what you had sent")
    assert traces[0] == traces[1]


def test_what_suits_a_person_is_within_two_screens_of_a_phone(browser, provider) -> None:
    page = browser.new_context(viewport=PHONE).new_page()
    page.goto(provider.url)
    item(page, 0).get_by_role("radio", name="5", exact=True).check(force=True)
    expect(page.locator("#recommendations")).to_contain_text("from your ratings")
    bottom = page.evaluate(
        "document.querySelector('#recommendations li:last-child').getBoundingClientRect().bottom"
        " + scrollY"
    )
    assert bottom <= SCREENS * PHONE["height"]
    page.context.close()
