"""The element `<tacit-consent>` in Chromium, on a page of another site: no default, its events, its
slots, and the words of the page."""

import pytest
from playwright.sync_api import Page, expect
from visits import violations

pytestmark = pytest.mark.browser

SHOW = """async ({ attributes = {}, properties = {}, early = false, inside = "" }) => {
  const [{ defineConsent }, { fetchTask }, { Collector }] = await Promise.all([
    import("/view/consent/element.js"), import("/device/sending/first_task.js"),
    import("/device/sending/collector.js")]);
  const task = await fetchTask(new Collector());
  const main = document.createElement("main");
  const consent = document.createElement("tacit-consent");
  for (const [name, value] of Object.entries(attributes)) consent.setAttribute(name, value);
  const heading = document.createElement("h1");
  Object.assign(heading, { slot: "before", textContent: inside });
  if (inside) consent.append(heading);
  if (!early) defineConsent();
  window.said = [];
  for (const name of ["tacit-accept", "tacit-decline"])
    document.addEventListener(name, (event) => said.push([name, event.detail]));
  main.append(consent);
  document.body.replaceChildren(main);
  Object.assign(consent, { task, due: 1, ...properties });
  defineConsent();
  return task.address;
}"""
"""Shows the element alone. `early`: its properties are set before it is defined."""
SAID = "said"


@pytest.fixture
def blank(page: Page, provider) -> Page:
    """A page of the provider's origin on which the element is not defined yet."""
    page.route("**/blank", lambda route: route.fulfill(body=BLANK, content_type="text/html"))
    page.goto(f"{provider.url}blank")
    return page


BLANK = "<!doctype html><html lang=en><title>Films</title><body></body></html>"


def test_without_suggestions_both_limits_have_no_default(blank: Page) -> None:
    blank.evaluate(SHOW, {})
    expect(blank.get_by_role("radio")).to_have_count(2)
    expect(blank.locator("input:checked")).to_have_count(0)
    expect(blank.get_by_label("Your lifetime limit")).to_have_value("")
    agree = blank.get_by_role("button", name="Agree and send")
    agree.click()
    expect(blank.get_by_text("Choose how much noise, and your lifetime limit")).to_be_visible()
    blank.get_by_role("radio", name="Little noise").check()
    agree.click()
    assert blank.evaluate(SAID) == []
    blank.get_by_label("Your lifetime limit").fill("12.5")
    agree.click()
    (event,) = blank.evaluate(SAID)
    assert event[0] == "tacit-accept"
    assert event[1].keys() == {"mostEpsilon", "lifetime"}
    assert event[1]["lifetime"] == "12.5"


def test_suggestions_are_the_middle_level_and_a_modest_limit(blank: Page, provider) -> None:
    blank.evaluate(SHOW, {"attributes": {"suggest": ""}})
    expect(blank.get_by_role("radio", name="Much noise")).to_be_checked()
    blank.get_by_role("button", name="Agree and send").click()
    ((_, terms),) = blank.evaluate(SAID)
    epsilons = sorted({str(one.epsilon) for one in provider.task.channels}, key=float)
    assert terms["mostEpsilon"] == epsilons[(len(epsilons) - 1) // 2]
    assert float(terms["lifetime"]) == 100 * float(terms["mostEpsilon"])


def test_it_says_who_asks_and_what_becomes_public(blank: Page, provider) -> None:
    address = blank.evaluate(SHOW, {"properties": {"due": 3}, "inside": "A question"})
    consent = blank.locator("tacit-consent")
    expect(consent).to_contain_text("The items you rated become public.")
    expect(consent).to_contain_text("sends 3 answers")
    blank.get_by_text("Full terms").click()
    expect(consent).to_contain_text(provider.url.split("/")[2])
    label = blank.get_by_role("link", name="Privacy label")
    expect(label).to_have_attribute("href", f"v1/tasks/{address}/label")
    assert violations(blank) == []


def test_declining_dispatches_its_event_and_no_terms(blank: Page) -> None:
    blank.evaluate(SHOW, {"attributes": {"suggest": ""}})
    blank.get_by_role("button", name="Not now").click()
    assert blank.evaluate(SAID) == [["tacit-decline", None]]


@pytest.mark.parametrize("early", [False, True], ids=["defined before", "defined after"])
def test_properties_and_slots_of_a_framework_are_shown(blank: Page, early: bool) -> None:
    given = {"properties": {"due": 7, "lifetime": "40"}, "early": early, "inside": "A question"}
    blank.evaluate(SHOW, given)
    expect(blank.get_by_role("heading", name="A question")).to_be_visible()
    expect(blank.get_by_label("Your lifetime limit")).to_have_value("40")
    expect(blank.get_by_role("button", name="Agree and send 7 answers")).to_be_visible()


def test_what_is_spent_is_not_offered_again(blank: Page) -> None:
    blank.evaluate(SHOW, {"properties": {"lifetime": "20"}, "attributes": {"suggest": ""}})
    blank.evaluate("document.querySelector('tacit-consent').spent = 20_000_000_000n")
    expect(blank.locator("#enough")).to_contain_text("Enough for 0 answers")


def test_a_collector_under_a_path_has_its_label_there(blank: Page) -> None:
    place = "https://films.example/tacit"
    address = blank.evaluate(SHOW, {"attributes": {"place": place}})
    blank.get_by_text("Full terms").click()
    label = blank.get_by_role("link", name="Privacy label")
    expect(label).to_have_attribute("href", f"{place}/v1/tasks/{address}/label")


def test_a_wrong_task_is_refused(blank: Page) -> None:
    blank.evaluate(SHOW, {})
    said = blank.evaluate(
        """() => { try { document.querySelector("tacit-consent").task = "address"; }
                   catch (error) { return error.message; } }"""
    )
    assert said == "Expected a task, got string; pass what fetchTask returned."


def test_the_page_hides_a_declined_question_for_this_visit(page: Page) -> None:
    page.locator("#catalogue li").first.get_by_role("radio").first.check(force=True)
    expect(page.locator("#send")).to_be_visible()
    page.get_by_role("button", name="Not now").click()
    expect(page.locator("#send")).to_be_hidden()
    expect(page.locator("#recommendations li").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Not now")).to_be_visible()
