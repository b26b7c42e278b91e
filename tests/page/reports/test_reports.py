"""Reports in a browser: with scripts and without, on a phone and at a desk, by pointer, by keys."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from made_reports import PAGES
from playwright.sync_api import Browser, Page, expect
from visits import violations

pytestmark = pytest.mark.browser

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
MOST_BYTES = 2_000_000
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LABELS = """
const drawn = new WeakMap(), own = CanvasRenderingContext2D.prototype;
const { fillText, clearRect } = own;
own.clearRect = function (...given) {
  drawn.set(this.canvas, []);
  return clearRect.apply(this, given);
};
own.fillText = function (text, ...given) {
  drawn.get(this.canvas)?.push([text, this.textAlign]);
  return fillText.call(this, text, ...given);
};
window.labels = (canvas) => drawn.get(canvas) ?? [];
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{name}.html" for name in PAGES}
    for name, path in paths.items():
        path.write_text(PAGES[name]())
    return paths


@pytest.fixture
def opened(browser: Browser, written) -> Iterator:
    """Opens a report; what a page says on the console fails the test."""
    contexts, complaints = [], []

    def tab(name: str, **settings) -> Page:
        contexts.append(browser.new_context(**{"viewport": DESK, **settings}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda one: complaints.extend([one.url] * ("file:" not in one.url)))
        page.add_init_script(LABELS)
        page.goto(written[name].as_uri())
        return page

    yield tab
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_amiss(opened, name, size, colours) -> None:
    page = opened(name, viewport=size, color_scheme=colours)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for chart in page.locator(".chart").all():
        box, canvas = chart.bounding_box(), chart.locator("canvas").bounding_box()
        assert box
        assert canvas
        assert canvas["width"] == chart.evaluate("box => box.clientWidth")
        assert abs(canvas["width"] - box["width"]) < 1


@pytest.mark.parametrize("name", PAGES)
def test_a_report_is_small(written, name) -> None:
    assert written[name].stat().st_size < MOST_BYTES


def walked(page: Page) -> str:
    """All that is read in the charts of a page, place by place, by keys."""
    said: list[str] = []
    for chart in page.locator(".chart").all():
        chart.focus()
        page.keyboard.press("Home")
        for _ in range(20):
            said.append(chart.locator(".readout").inner_text())
            page.keyboard.press("ArrowUp")
            page.keyboard.press("ArrowRight")
    return "\n".join(said)


@pytest.mark.parametrize("name", PAGES)
def test_every_number_with_scripts_is_there_without_them(opened, name) -> None:
    bare, live = opened(name, java_script_enabled=False), opened(name)
    assert bare.locator(".chart, button, canvas").count() == 0
    static = "\n".join([bare.inner_text("body"), *bare.locator("svg text").all_text_contents()])
    known = set(NUMBER.findall(static))
    shown = live.inner_text("body") + walked(live)
    assert set(NUMBER.findall(shown)) <= known
    pictures = live.locator(".panel .still:visible").count()
    assert pictures + live.locator(".chart").count() == bare.locator(".panel svg").count()


@pytest.mark.parametrize("name", PAGES)
def test_no_label_of_an_axis_stands_there_twice(opened, name) -> None:
    page = opened(name)
    page.locator(".chart canvas").first.wait_for()
    for canvas in page.locator(".chart canvas").all():
        labels = [text for text, side in canvas.evaluate("labels") if side == "right"]
        assert len(labels) > 1
        assert len(labels) == len(set(labels))


def test_a_chart_is_read_by_keys(opened) -> None:
    page = opened("choose-epsilon")
    chart = page.get_by_role("application")
    readout, heard = chart.locator(".readout"), page.locator(".announcer")
    chart.focus()
    expect(readout).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(readout.locator("strong")).to_have_text("epsilon per value 0.1")
    page.keyboard.press("ArrowRight")
    expect(heard).to_contain_text("epsilon per value 0.2: strength P 0.900, loss of accuracy A")
    page.keyboard.press("End")
    expect(readout.locator("strong")).to_have_text("epsilon per value 8")
    page.keyboard.press("ArrowRight")
    expect(readout.locator("strong")).to_have_text("epsilon per value 8")
    page.keyboard.press("ArrowLeft")
    expect(readout.locator("strong")).to_have_text("epsilon per value 6")
    page.keyboard.press("Escape")
    expect(readout).to_be_hidden()
    expect(heard).to_have_text("")


def test_rows_are_read_from_above(opened) -> None:
    page = opened("crossdomain-once")
    chart = page.get_by_role("application").first
    chart.focus()
    page.keyboard.press("ArrowDown")
    expect(chart.locator(".readout li").first).to_contain_text("nx-map-everybody (user), no priv")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
    expect(chart.locator(".readout li").first).to_contain_text("item-average, no privacy")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_a_chart_is_read_by_the_pointer_and_the_readout_stays_inside(opened, size) -> None:
    page = opened("compare", viewport=size)
    for chart in page.locator(".chart").all():
        box = chart.bounding_box()
        assert box
        for share in (0.25, 0.6, 0.95):
            chart.hover(position={"x": share * box["width"], "y": 0.4 * box["height"]})
            readout = chart.locator(".readout").bounding_box()
            assert readout
            assert box["x"] - 1 <= readout["x"]
            assert readout["x"] + readout["width"] <= box["x"] + box["width"] + 1
    page.mouse.move(1, 1)
    expect(page.locator(".readout:visible")).to_have_count(0)


def cells(page: Page, table: int, column: int) -> list[str]:
    rows = page.locator("table.all").nth(table).locator("tbody tr:not(:has([scope=rowgroup]))")
    return rows.locator(f":nth-child({column + 1})").all_inner_texts()


def test_a_table_is_sorted_by_keys(opened) -> None:
    page = opened("crossdomain")
    heading = page.locator("table.all").first.get_by_role("columnheader", name="MAE")
    column = heading.evaluate("cell => cell.cellIndex")
    before = cells(page, 0, column)
    heading.get_by_role("button").focus()
    for said, order in (("ascending", 1), ("descending", -1)):
        page.keyboard.press("Enter")
        expect(heading).to_have_attribute("aria-sort", said)
        figures = [order * float(cell) for cell in cells(page, 0, column)]
        assert all(one <= other for one, other in pairwise(figures))
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") is None
    assert cells(page, 0, column) == before
    assert before != sorted(before, key=float)


def test_lines_stay_in_their_group_and_what_is_missing_stands_last(opened) -> None:
    page = opened("compare")
    table = page.locator("table.all", has_text="RMSE on held-out").first
    table.get_by_role("columnheader", name="0.1").get_by_role("button").press("Enter")
    for body in table.locator("tbody").all():
        assert body.locator("tr").first.locator("[scope=rowgroup]").count() == 1
        found = body.locator("td:nth-child(2)").all_inner_texts()
        known = [cell for cell in found if cell != "–"]
        assert found == sorted(known, key=float) + ["–"] * (len(found) - len(known))
    assert table.locator("[aria-sort]").count() == 1


def test_words_stand_to_the_left_and_figures_to_the_right(opened) -> None:
    page = opened("attack")
    found = page.locator("table.all tbody :is(td, th)")
    told = "all => all.map(cell => [cell.textContent, getComputedStyle(cell).textAlign])"
    sides = found.evaluate_all(told)
    assert len(sides) > 100
    for text, side in sides:
        assert side == ("right" if re.match(r"\d\.\d|–", text) else "left"), text


def test_why_a_claim_fails_is_on_the_same_page(opened) -> None:
    for name in PAGES:
        page = opened(name)
        links = page.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert all(link.startswith("#") for link in links)
        assert all(page.locator(link).count() == 1 for link in links)
        assert bool(links) == (name not in ("crossdomain-once", "choose-epsilon"))
