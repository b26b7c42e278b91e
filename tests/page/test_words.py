"""The page in a language that is not there: every word of its own comes from view/words, and where
one reads from right to left it is laid out so."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from film_questions import TITLES, marking, question
from playwright.sync_api import Browser, Page, Route, expect
from visits import PATIENCE, violations

import tacit

pytestmark = pytest.mark.browser

WORDS = Path(tacit.__file__).parent / "page" / "view" / "words"
SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}
QUESTIONS = {
    "rated": question(),
    "catalogue": question("catalogue", "randomized-response"),
    "marks": marking("catalogue"),
}

FOREIGN = """import * as plain from "./NAME?plain";
const said = (value) =>
  typeof value === "string" ? `⟦${value}⟧`
  : typeof value === "function" ? (...given) => said(value(...given))
  : Array.isArray(value) ? value.map(said)
  : value !== null && typeof value === "object"
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, said(one)]))
  : value;
"""
"""Whatever a module of words says, in brackets."""

SHOWN = """() => {
  const found = [document.title];
  const shadows = [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? []);
  for (const root of [document.body, ...shadows]) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
      if (!texts.currentNode.parentElement.closest("noscript, .mark, .address, .code, #name"))
        found.push(texts.currentNode.data);
    for (const name of ["aria-label", "title", "placeholder", "alt"])
      for (const one of root.querySelectorAll(`[${name}]`)) found.push(one.getAttribute(name));
  }
  return found.map((text) => text.trim()).filter(Boolean);
}"""
"""All that the page says, closed parts and spoken names too, but its own name, the task's and the
user's reference code."""

ASKEW = """() => {
  const root = document.documentElement;
  const inside = (root) => [...root.querySelectorAll("*")]
    .flatMap((one) => [one, ...(one.shadowRoot ? inside(one.shadowRoot) : [])]);
  const boxes = inside(document.body)
    .filter((one) => one.checkVisibility() && getComputedStyle(one).display !== "inline");
  const roots = [root, ...boxes.filter((one) => one.dir !== "")];
  const places = (direction) => {
    for (const one of roots) one.dir = direction;
    return boxes.map((one) => one.getBoundingClientRect());
  };
  const [here, there] = [places("ltr"), places("rtl")];
  for (const one of roots) one.dir = "ltr";
  const far = (one, other) => Math.abs(one.left + other.right - root.clientWidth);
  return boxes.filter((_, k) => far(here[k], there[k]) > 1 || far(there[k], here[k]) > 1)
    .map((one) => one.outerHTML.slice(0, 100));
}"""
"""Every box that is seen and is not where the mirror has it."""


@pytest.fixture(params=SIZES)
def page(browser: Browser, request):
    context = browser.new_context(viewport=SIZES[request.param])
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def foreign(route: Route) -> None:
    """A module of words in brackets, and from right to left."""
    url = urlsplit(route.request.url)
    name = url.path.rpartition("/")[2]
    if url.query:
        return route.continue_()
    exports = re.findall(r"^export (?:const|function) (\w+)", (WORDS / name).read_text(), re.M)
    assert exports, name
    plain = {"LANGUAGE": '"en-GB"', "DIRECTION": '"rtl"'}
    lines = [f"export const {one} = {plain.get(one, f'said(plain.{one})')};" for one in exports]
    body = FOREIGN.replace("NAME", name) + "\n".join(lines)
    return route.fulfill(body=body, content_type="text/javascript")


def states(page: Page, url: str):
    """The page as a person meets it, state by state."""
    page.goto(url)
    rows = page.locator("#catalogue li")
    rows.first.wait_for()
    yield "first"
    for place, level in enumerate((4, 2, 3)):
        inputs = rows.nth(place).locator("input")
        inputs.nth(level if inputs.count() > 1 else 0).check(force=True)
    page.locator("#agree").wait_for()
    for summary in page.locator("summary").all():
        summary.click()
    yield "asked"
    page.locator("#agree").click()
    page.locator("#ledger .entry").first.wait_for()
    page.locator(".sofar summary").click()
    inputs = rows.first.locator("input")
    inputs.first.set_checked(inputs.count() > 1, force=True)
    expect(page.locator("#catalogue .fate[data-kind=changed]")).to_have_count(1)
    yield "changed"
    page.reload()
    page.locator("#ledger .entry").first.wait_for()
    page.get_by_label(page.locator(".find label").first.inner_text()).fill("zzz")
    yield "back"
    page.locator("#erase").click()
    yield "erasing"
    page.locator("#erase-yes").click()
    expect(page.locator("#alert")).not_to_be_empty()
    yield "erased"


def bare(text: str) -> str:
    """What is in no brackets, less titles and numbers."""
    while (less := re.sub(r"⟦[^⟦⟧]*⟧", "", text)) != text:
        text = less
    for title in sorted(TITLES, key=len, reverse=True):
        text = text.replace(title, "")
    return re.sub(r"[\d\s.,%<]", "", text)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_every_word_comes_from_one_place(page: Page, provide, asked) -> None:
    page.route(re.compile(r"/view/words/"), foreign)
    for state in states(page, provide(QUESTIONS[asked]).url):
        shown = page.evaluate(SHOWN)
        assert len(shown) > 20, state
        assert [text for text in shown if bare(text)] == [], state
        assert page.evaluate("document.documentElement.dir") == "rtl"
        width = (page.viewport_size or {})["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, state
    assert violations(page) == []


@pytest.mark.parametrize("asked", ["rated", "marks"])
def test_from_right_to_left_it_is_its_own_mirror(page: Page, provide, asked) -> None:
    for state in states(page, provide(QUESTIONS[asked]).url):
        assert page.evaluate(ASKEW) == [], state
