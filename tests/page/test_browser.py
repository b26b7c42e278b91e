"""The page in Chromium: a person rates, agrees, sends, sees, comes back and erases."""

import json
import re
import time
from array import array
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from visits import (
    DESK,
    PHONE,
    agree,
    answer,
    erase,
    posts,
    reports,
    send,
    unfold,
    violations,
)

from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.list_model import ListModel
from tacit.wire.tasks.loading import loads

STORES = Path(__file__).with_name("stores")
LEVELS = ("5", "4", "2", "3")
REPORT = re.compile(
    r'\{"id":"[0-9a-f]{32}","mech":"[0-9a-f]{64}","schema":1,"epoch":\d+,"person":"[0-9a-f]{32}",'
    r'"cells":\[\[\d+, *\d+\](,\[\d+, *\d+\])*\]\}'
)

pytestmark = pytest.mark.browser


def rate(page: Page, count: int = 12) -> list[str]:
    """Rates the first items; the levels it chose."""
    levels = [LEVELS[k % len(LEVELS)] for k in range(count)]
    unfold(page)
    for place, level in enumerate(levels):
        control = page.locator("#catalogue li").nth(place)
        control.get_by_role("radio", name=level, exact=True).click()
    return levels


def stars(provider, symbol: int) -> str:
    """What a symbol of Duchi's larger table stands for, as the page says it."""
    (channel,) = (one for one in provider.task.channels if str(one.epsilon) == "1")
    return f"{round(float(channel.outputs[symbol]), 2):g} stars"


def test_a_person_from_the_first_visit_to_the_last(page: Page, provider, asked) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Films")
    expect(page.locator("#send")).to_be_hidden()
    levels = rate(page)
    expect(page.locator("#recommendations li")).to_have_count(8)
    expect(page.locator("#send")).to_contain_text("The items you rated become public.")
    expect(page.locator(".contract")).to_contain_text("which items you rated")
    assert {one.method for one in asked} == {"GET"}
    answer(page)

    entries = page.locator("#ledger .entry")
    expect(entries).to_have_count(12)
    symbols = {json.loads(one)["cells"][0][0]: json.loads(one)["cells"][0][1]
               for one in reports(asked)}  # fmt: skip
    for place, level in enumerate(levels):
        left = f"Sent: {stars(provider, symbols[place])} instead of {level}."
        expect(entries.nth(place)).to_contain_text(left)
        expect(entries.nth(place)).to_contain_text("epsilon = 1 on this value")
        expect(page.locator("#catalogue li").nth(place).locator(".fate")).to_have_text("sent")
    spent = "12 of 50 spent: epsilon for all your values together"
    expect(page.locator("#asked")).to_contain_text(spent)
    expect(page.locator("#send")).not_to_contain_text("per user")

    page.reload()
    expect(page.locator(".home > :first-child")).to_contain_text(spent)
    expect(page.locator("#asked")).to_contain_text("12 answers, the last since")
    expect(page.locator("#asked")).to_contain_text("A model trained on all users' answers.")
    expect(entries).to_have_count(12)
    unfold(page)
    expect(page.locator("#catalogue input:checked")).to_have_count(12)
    expect(page.locator("#sync")).to_be_hidden()
    assert len(posts(asked)) == 1

    erase(page)
    expect(page.locator("#alert")).to_contain_text("spent is kept: 12 for all your values together")
    expect(page.locator("#catalogue input:checked")).to_have_count(0)
    expect(page.locator("#reports")).to_be_hidden()
    rate(page, 1)
    expect(page.get_by_label("Your lifetime limit")).to_have_value("62")  # 12 and 100 times 0.5
    expect(page.locator("#send")).to_contain_text("Enough for 100 answers.")
    agree(page, limit="12.5")
    expect(page.locator("#status")).to_contain_text("1 rating not answered")
    expect(page.locator("#asked")).to_contain_text("12 of 12.5 spent")
    assert len(posts(asked)) == 1


def test_a_list_comes_without_stars(page: Page, provider) -> None:
    items, popularity = provider.task.items, array("f", range(len(provider.task.items)))
    provider.models.publish(provider.task.address, ListModel(items, popularity, NO_PRIVACY))
    page.reload()
    expect(page.locator("#recommendations")).to_contain_text("Most popular overall.")
    rate(page, 1)
    expect(page.locator("#recommendations")).to_contain_text("on this device from your ratings")
    titles = page.locator("#recommendations li")
    expect(titles).to_have_text([provider.task.titles[-1 - place] for place in range(8)])


@pytest.mark.parametrize(
    "provider",
    [("rated", "duchi"), ("catalogue", "randomized-response"), ("sample:6", "randomized-response")],
    ids=lambda given: given[0],
    indirect=True,
)
def test_what_leaves_is_reports_alone_and_to_one_origin(page: Page, provider, asked) -> None:
    rate(page)
    assert {one.method for one in asked} == {"GET"}
    answer(page)
    assert {urlsplit(one.url).netloc for one in asked} == {urlsplit(provider.url).netloc}
    assert all("?" not in one.url and one.post_data is None for one in asked if one.method == "GET")
    assert {one.method for one in asked} == {"GET", "POST"}
    assert len([one for one in asked if one.method == "POST"]) == len(posts(asked))
    assert all("authorization" not in one.headers for one in posts(asked))
    for report in reports(asked):
        assert REPORT.fullmatch(report)
    cells = [cell for one in reports(asked) for cell in json.loads(one)["cells"]]
    expected = {"rated": 12, "catalogue": 24, "sample:6": 6}[provider.task.plan]
    assert len({place for place, _ in cells}) == len(cells) == expected
    if provider.task.plan == "rated":  # every rating is from 2 to 5, every symbol of Duchi's 0 or 1
        assert {symbol for _, symbol in cells} <= {0, 1}


@pytest.mark.parametrize("provider", [("rated", "duchi", "open-sesame")], indirect=True)
def test_a_token_goes_with_what_is_sent_and_out_of_the_address(page: Page, provider, asked) -> None:
    rate(page, 1)
    agree(page)
    expect(page.get_by_role("alert")).to_contain_text("require an enrolment token")
    page.goto(provider.url + "#token=open-sesame")
    page.reload()
    page.wait_for_selector("#home:not([hidden])")
    assert "token" not in page.url
    expect(page.locator("#status")).to_contain_text("sent and stored")
    assert [one.headers.get("authorization") for one in posts(asked)] == [
        None,
        "Bearer open-sesame",
    ]
    assert posts(asked)[0].post_data == posts(asked)[1].post_data


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b"Metropolis", b"Metropolip", "changed in transit"),
        (b'"epsilon":"1"', b'"epsilon":"9"', "changed in transit"),
    ],
)
def test_a_task_changed_on_the_way_is_refused(
    page: Page, provider, asked, old, new, sentence
) -> None:
    forged = provider.task.document.replace(old, new)
    assert forged != provider.task.document
    page.route("**/v1/tasks/*", lambda route: route.fulfill(body=forged))
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    expect(page.get_by_role("alert")).to_contain_text("Nothing can be sent.")
    expect(page.get_by_role("button")).to_have_count(0)
    assert not posts(asked)


def test_a_table_that_lies_about_its_epsilon_is_refused(page: Page, provider) -> None:
    forged = provider.task.document.replace(b'"epsilon":"1"', b'"epsilon":"0.9"')
    address = sha256(forged).hexdigest()
    page.route("**/v1/tasks", lambda route: route.fulfill(json={"tasks": [address]}))
    page.route("**/v1/tasks/*", lambda route: route.fulfill(body=forged))
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("above e^0.9; claim a larger epsilon")
    expect(page.get_by_role("button")).to_have_count(0)


def test_a_table_swapped_after_the_terms_draws_nothing(page: Page, provider, asked) -> None:
    rate(page, 1)
    page.route("**/v1/tasks/*", lambda route: route.fulfill(body=b"{}"))
    agree(page)
    expect(page.get_by_role("alert")).to_contain_text("changed in transit")
    expect(page.locator("#status")).to_have_text("Nothing was sent.")
    expect(page.locator("#asked")).to_contain_text("0 of 50 spent")
    page.locator("#sync").click()
    expect(page.get_by_role("alert")).to_contain_text("changed in transit")
    expect(page.locator("#asked")).to_contain_text("0 of 50 spent")
    assert not posts(asked)


def test_without_a_connection_nothing_is_lost_and_it_is_said_in_a_sentence(page: Page) -> None:
    rate(page, 1)
    page.route("**/v1/**", lambda route: route.abort())
    agree(page)
    expect(page.get_by_role("alert")).to_have_text(
        "The collector cannot be reached; try again later."
    )
    expect(page.locator("#catalogue input:checked")).to_have_count(1)


def test_what_was_never_agreed_to_is_erased_and_nobody_is_asked(page: Page, asked) -> None:
    rate(page, 2)
    erase(page)
    expect(page.locator("#alert")).to_contain_text("spent is kept: 0 for all your values together")
    expect(page.locator("#catalogue input:checked")).to_have_count(0)
    page.reload()
    unfold(page)
    expect(page.locator("#catalogue input:checked")).to_have_count(0)
    assert {one.method for one in asked} == {"GET"}


def test_another_question_is_asked_anew_and_nothing_is_sent_meanwhile(
    page: Page, provider, asked
) -> None:
    rate(page, 1)
    answer(page)
    other = replace(provider.task, name="Other films")
    page.route("**/v1/tasks", lambda route: route.fulfill(json={"tasks": [other.address]}))
    page.route(f"**/{other.address}", lambda route: route.fulfill(body=other.document))
    page.reload()
    expect(page.locator("#alert")).to_contain_text("has a new question")
    expect(page.locator("#send")).to_be_hidden()
    rate(page, 2)
    expect(page.get_by_role("button", name="Agree and send 2 answers")).to_be_visible()
    expect(page.get_by_label("Your lifetime limit")).to_have_value("50")
    assert len(posts(asked)) == 1


CHANGED = """terms => new Promise((done, failed) => {
  const opening = indexedDB.open("tacit");
  opening.onerror = () => failed(opening.error);
  opening.onsuccess = () => {
    const owners = opening.result.transaction("owner", "readwrite").objectStore("owner");
    owners.openCursor().onsuccess = ({ target: { result: row } }) => {
      row.update({ ...row.value, ...terms });
      row.source.transaction.oncomplete = () => { opening.result.close(); done(null); };
    };
  };
})"""
"""The terms of a person, changed where they are kept."""


def test_more_than_ones_own_maximum_is_refused(page: Page, provider, asked) -> None:
    rate(page, 1)
    answer(page)
    page.evaluate(CHANGED, {"maximum": "0.4"})
    rate(page, 2)
    page.locator("#sync").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "above your maximum of 0.4, so the device sends nothing"
    )
    expect(page.locator("#asked")).to_contain_text("1 of 50 spent")
    assert len(posts(asked)) == 1


def test_what_was_not_taken_is_sent_again_to_the_byte(page: Page, provider, asked) -> None:
    refused: list[str | None] = []

    def busy(route) -> None:
        refused.append(route.request.post_data)
        route.fulfill(status=503, headers={"retry-after": "30"})

    page.route("**/reports", busy)
    rate(page, 3)
    agree(page)
    expect(page.locator("#status")).to_contain_text("The same reports will be sent again")
    expect(page.locator("#ledger")).to_contain_text("waiting to be sent")
    expect(page.locator("#catalogue .fate:not(:empty)")).to_have_text(["waiting to be sent"] * 3)
    page.unroute("**/reports")
    page.reload()  # which is no way around what the collector asked for, nor is the button
    expect(page.locator("#status")).to_contain_text("The same reports will be sent again")
    page.get_by_role("button", name="Send waiting answers").click()
    expect(page.locator("#status")).to_contain_text("The same reports will be sent again")
    assert len(posts(asked)) == 1
    page.clock.set_fixed_time(time.time() + 91)
    page.reload()  # and what waits needs no button
    expect(page.locator("#status")).to_contain_text("sent and stored")
    assert [one.post_data for one in posts(asked)] == refused * 2


def test_a_redirect_is_not_followed_and_it_is_said(page: Page, provider, asked) -> None:
    elsewhere = {"location": provider.url + "elsewhere"}
    page.route("**/reports", lambda route: route.fulfill(status=307, headers=elsewhere))
    rate(page, 1)
    agree(page)
    refused = "It redirects to another address. Your reports are kept."
    expect(page.get_by_role("alert")).to_contain_text(refused)
    expect(page.locator("#status")).to_contain_text("1 report kept on this device")
    assert not [one for one in asked if "elsewhere" in one.url]
    page.unroute("**/reports")
    send(page)


def test_the_export_is_what_the_device_holds_but_what_others_could_send_with(
    page: Page, provider, asked
) -> None:
    levels = rate(page, 4)
    answer(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    text = Path(download.value.path()).read_text()
    held = json.loads(text)
    assert [one["level"] for one in held["ratings"]] == levels
    assert held["ledger"] == [{"self": "lifetime", "spent": "4"}]
    assert held["owner"] == [{"task": provider.task.address, "maximum": "1", "limit": "50"}]
    assert len(held["answers"]) == len(held["reported"]) == len(held["made"]) == 4
    assert not [one for one in map(json.loads, reports(asked)) if one["person"] in text]
    assert held["outbox"] == []


def test_what_was_sent_is_asked_to_be_erased_until_the_provider_says_that_it_is(
    page: Page, provider, asked
) -> None:
    # A pause drawn from 0 seconds up may be over before the page is loaded again.
    answers = [(503, {"retry-after": "30"}), (200, {})]

    def erasing(route) -> None:
        status, headers = answers.pop(0)
        route.fulfill(status=status, headers=headers, json={})

    page.route("**/erasures", erasing)
    rate(page, 2)
    answer(page)
    (name,) = {json.loads(one)["person"] for one in reports(asked)}
    erase(page)
    expect(page.locator("#alert")).to_contain_text("has not confirmed yet that it erased")
    page.reload()  # which is no way around the pause
    expect(page.locator("#catalogue li").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert len(posts(asked, "erasures")) == 1
    page.clock.set_fixed_time(time.time() + 91)
    page.reload()
    expect(page.locator("#catalogue li").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    first, second = (json.loads(one.post_data or "") for one in posts(asked, "erasures"))
    assert first == second
    assert list(first) == ["key"]
    assert sha256(bytes.fromhex(first["key"])).hexdigest()[:32] == name
    page.reload()
    expect(page.locator("#catalogue li").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert len(posts(asked, "erasures")) == 2


BEFORE = """([rows, version]) => new Promise((done, failed) => {
  const opening = indexedDB.open("tacit", version);
  const keys = { owner: ["self"], enrolment: ["self"], ledger: ["self"],
    ratings: ["task", "place"], answers: ["task", "channel", "place", "value"],
    reported: ["task", "channel", "place"], outbox: ["task", "epoch", "place"],
    made: ["task", "epoch", "place"], pause: ["self"],
    ...(version > 2 ? { names: ["task"], erasures: ["key"] } : {}) };
  const value = (_key, held) => typeof held?.bigint === "string" ? BigInt(held.bigint)
    : held?.bytes && !held.id ? Uint8Array.from(held.bytes.match(/../g), (two) => parseInt(two, 16))
    : held;
  opening.onupgradeneeded = () => {
    for (const [name, keyPath] of Object.entries(keys)) {
      const store = opening.result.createObjectStore(name, { keyPath });
      for (const row of JSON.parse(rows, value)[name] ?? []) store.put(row);
    }
  };
  opening.onsuccess = () => { opening.result.close(); done(null); };
  opening.onerror = () => failed(opening.error);
})"""
"""A database as the pages before tacit-task-2 (2) and before blocks (3) made it."""


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize(("plan", "spent"), [("rated", "5 of 5"), ("sample", "4 of 4.5")])
def test_a_database_of_an_older_page_is_upgraded_where_it_is(
    browser: Browser, provide, plan, spent, version
) -> None:
    held = json.loads((STORES / f"{plan}.json").read_text(encoding="utf-8"))
    provider = provide(loads(held["task"].encode()))
    sent: list[str] = []

    def take(route) -> None:
        sent.append(route.request.post_data)
        route.fulfill(json={})

    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.clock.set_fixed_time(87_431)  # a second after the collector may be called again
        page.route("**/reports", take)
        page.goto(provider.url + "icon.svg")
        page.evaluate(BEFORE, [json.dumps(held["rows"]), version])
        page.goto(provider.url)
        expect(page.locator("#status")).to_contain_text("sent and stored")
        expect(page.locator("#asked")).to_contain_text(f"{spent} spent")
        expect(page.locator("#catalogue input:checked")).to_have_count(len(held["rows"]["ratings"]))
        if plan == "sample":  # this period's report was made by the page before
            expect(page.locator("#sync")).to_be_hidden()
            page.reload()
            expect(page.locator("#catalogue li").first).to_be_visible()
        else:
            page.locator("#sync").click()
        expect(page.locator("#status")).not_to_contain_text("sent and stored")
        expect(page.locator("#asked")).to_contain_text(f"{spent} spent")
    waiting = [row["bytes"] for row in held["rows"]["outbox"]]
    assert sent == ['{"reports":[' + ",".join(waiting) + "]}"]


def test_an_older_page_in_another_tab_keeps_the_database_from_being_upgraded(
    browser: Browser, provide
) -> None:
    held = json.loads((STORES / "rated.json").read_text(encoding="utf-8"))
    provider = provide(loads(held["task"].encode()))
    with closing(browser.new_context()) as context:
        other, page = context.new_page(), context.new_page()
        other.goto(provider.url + "icon.svg")
        other.evaluate(BEFORE, [json.dumps(held["rows"]), 3])
        other.evaluate("() => { window.kept = indexedDB.open('tacit'); }")
        other.wait_for_function("() => window.kept.readyState === 'done'")
        page.goto(provider.url)
        expect(page.get_by_role("alert")).to_contain_text("open in another tab: close it first.")
        other.close()
        page.reload()
        expect(page.locator("#asked")).to_contain_text("5 of 5 spent")


def test_the_catalogue_is_found_and_rated_from_the_keyboard(page: Page, provider) -> None:
    keys = page.keyboard
    page.get_by_label("Search").focus()
    keys.type("rashomon")
    expect(page.locator("#catalogue li")).to_have_count(1)
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Space")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    checked = page.locator("#catalogue input:checked")
    expect(checked).to_have_value("3")
    expect(page.get_by_role("button", name="Agree and send 1 answer")).to_be_visible()
    keys.press("Tab")
    keys.press("Enter")
    expect(checked).to_have_count(0)
    expect(page.locator("#send")).to_be_hidden()
    expect(page.get_by_role("radio").first).to_be_focused()
    keys.press("Space")
    expect(checked).to_have_value("1")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("provider", [("catalogue", "randomized-response")], indirect=True)
def test_axe_finds_nothing(page: Page, size, colours) -> None:
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=colours)
    page.wait_for_selector("#send:not([hidden])")
    assert violations(page) == []
    rate(page, 3)
    page.get_by_text("Full terms").click()
    assert violations(page) == []
    answer(page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.get_by_role("button", name="Erase …").click()
    assert violations(page) == []
