"""The page where a question has one level: a tap says that an item is there, another that it is
not, and no word on it is of ratings."""

import json
import re

import pytest
from film_questions import TITLES, marking
from playwright.sync_api import Page, expect
from visits import DESK, PHONE, answer, erase, posts, reports, unfold, violations

pytestmark = pytest.mark.browser

OF_RATINGS = re.compile(r"\b(un)?rat(e|es|ed|ing|ings)\b|\bstars?\b", re.IGNORECASE)


@pytest.fixture
def provider(provide, request):
    return provide(marking(getattr(request, "param", "sample:6")))


def tap(page: Page, *places: int) -> None:
    for place in places:
        page.get_by_role("checkbox", name=TITLES[place], exact=True).click()


def sent(asked) -> list[dict[int, int]]:
    """The cells of each report that left, place to symbol."""
    return [dict(json.loads(one)["cells"]) for one in reports(asked)]


def text(page: Page) -> str:
    """All that a person can read, closed parts and spoken names too."""
    return page.evaluate(
        """() => {
          document.querySelector("noscript")?.remove();
          const named = [...document.querySelectorAll("[aria-label]")];
          return [document.title, document.body.textContent, ...named.map((one) => one.ariaLabel)]
            .join(" ");
        }"""
    )


@pytest.mark.parametrize("provider", ["catalogue"], indirect=True)
def test_a_tap_says_that_it_is_there_and_another_that_it_is_not(page, provider, asked):
    tap(page, 0, 1, 2)
    tap(page, 1)
    checked = page.locator(".items input:checked")
    expect(checked).to_have_count(2)
    answer(page, limit="100")
    entries = page.locator("#ledger .entry")
    expect(entries).to_have_count(2)
    (cells,) = sent(asked)
    assert list(cells) == list(range(len(TITLES)))
    assert set(cells.values()) <= {0, 1}
    said = ("Sent: “not marked” instead of “marked”.", "Sent: “marked”, which happens to be true.")
    for entry, place in ((entries.nth(0), 0), (entries.nth(1), 2)):
        expect(entry).to_contain_text(said[cells[place]])
        expect(entry.locator(".bars .level")).to_have_text(["not marked", "marked"])
    expect(page.locator("#asked")).to_contain_text("24 of 100 spent: epsilon per user")
    expect(page.locator("#ledger")).to_contain_text("on 22 other items of 24.")

    page.reload()
    expect(checked).to_have_count(2)
    page.get_by_label("only items I marked").check()
    expect(page.locator("#catalogue li")).to_have_count(2)
    tap(page, 0)
    expect(checked).to_have_count(1)
    expect(entries.nth(0).locator(".true .level")).to_have_text("not marked")
    stands = "Changed: your answer for “marked” remains until you send this one, which you can from"
    expect(entries.nth(0)).to_contain_text(stands)
    expect(page.locator("#catalogue .fate").first).to_contain_text(stands)


@pytest.mark.parametrize("provider", ["catalogue"], indirect=True)
def test_everything_and_nothing_leave_as_many_answers(page, provider, asked):
    unfold(page)
    tap(page, *range(len(TITLES)))
    answer(page)
    erase(page)
    expect(page.locator(".items input:checked")).to_have_count(0)
    answer(page)
    everything, nothing = sent(asked)
    assert len(everything) == len(nothing) == 24
    assert len(posts(asked)[0].post_data or "") == len(posts(asked)[1].post_data or "")
    assert len(posts(asked, "erasures")) == 1


def test_no_word_is_of_ratings(page, provider, asked):
    expect(page.locator(".contract")).to_contain_text("Your marks, by random noise")
    assert not OF_RATINGS.findall(text(page))
    tap(page, 0, 1, 2, 3, 4, 5)
    answer(page)
    tap(page, 0)
    assert not OF_RATINGS.findall(text(page))
    expect(page.get_by_role("heading", name="Mark items")).to_be_visible()


def test_the_export_says_what_is_there(page, provider, asked):
    tap(page, 3, 5)
    answer(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    held = json.loads(download.value.path().read_text())
    assert [(one["place"], one["level"]) for one in held["ratings"]] == [(3, "1"), (5, "1")]
    assert {one["value"] for one in held["answers"]} <= {"missing", "1"}
    assert held["ledger"] == [{"self": "lifetime", "spent": "6"}]


def test_it_is_marked_from_the_keyboard(page, provider):
    page.get_by_label("Search").fill("rashomon")
    expect(page.locator("#catalogue li")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    box = page.get_by_role("checkbox", name="Rashômon")
    expect(box).to_be_focused()
    page.keyboard.press("Space")
    expect(box).to_be_checked()
    page.get_by_label("only items I marked").check()
    expect(page.locator("#catalogue li")).to_have_count(1)
    box.focus()
    page.keyboard.press("Space")
    expect(box).not_to_be_checked()
    page.get_by_label("only items I marked").uncheck()
    page.get_by_label("only items I marked").check()
    expect(page.locator("#catalogue li")).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing(page, size, colours):
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=colours)
    page.wait_for_selector("#send:not([hidden])")
    assert violations(page) == []
    tap(page, 0, 1, 2)
    answer(page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    boxes = page.locator("#catalogue .mark-item").all()
    assert min((one.bounding_box() or {"height": 0})["height"] for one in boxes) >= 44
