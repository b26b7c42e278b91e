"""The size of a first visit to the page: bytes transferred on a phone with an empty cache."""

import pytest
from playwright.sync_api import CDPSession, Page

from tacit.cli.collecting.serve import made_up_people, made_up_task

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
MOST_BYTES = 200_000


@pytest.fixture
def phone(browser):
    """An empty tab in a context of its own."""
    context = browser.new_context(viewport=PHONE)
    yield context.new_page()
    context.close()


def transferred(session: CDPSession) -> dict[str, int]:
    """Bytes by address, headers included; filled as requests finish."""
    names: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def ended(event) -> None:
        sizes[names[event["requestId"]]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent",
            lambda event: names.update({event["requestId"]: event["request"]["url"]}))  # fmt: skip
    session.on("Network.loadingFinished", ended)
    session.send("Network.enable")
    return sizes


def test_first_visit_transfers_at_most_200_kb_besides_catalogue_and_model(
    phone: Page, provide
) -> None:
    sizes = transferred(phone.context.new_cdp_session(phone))
    provider = provide(made_up_task(made_up_people(), "http://127.0.0.1:8000"))
    phone.goto(provider.url)
    phone.locator("#catalogue li").first.wait_for()
    phone.wait_for_load_state("networkidle")
    catalogue = sizes.pop(f"{provider.url}v1/tasks/{provider.task.address}")
    (model,) = (name for name in sizes if "/v1/models/" in name)
    del sizes[model]
    assert catalogue > len(provider.task.document)
    assert f"{provider.url}view/page.js" in sizes
    assert sum(sizes.values()) < MOST_BYTES
