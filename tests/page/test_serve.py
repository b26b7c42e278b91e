"""`tacit serve`, as somebody would who has just installed it: open, rate, send, get advice."""

import contextlib
import subprocess
import sys
import time
import urllib.request

import pytest
from playwright.sync_api import expect
from processes import CLI, free_port

pytestmark = pytest.mark.browser


@pytest.fixture
def url(tmp_path):
    """The page over made-up films, as soon as it answers."""
    port = free_port()
    command = [*CLI, "serve", "--folder", str(tmp_path / "served"), "--port", str(port)]
    served = subprocess.Popen(command, stderr=sys.stderr)
    address = f"http://127.0.0.1:{port}"
    for _ in range(1200):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{address}/healthz").close()
            break
        time.sleep(0.05)
    yield address
    served.terminate()
    served.wait(20)


def test_all_of_it(browser, url):
    with contextlib.closing(browser.new_context()) as context:
        page = context.new_page()
        page.goto(url)
        rows = page.locator("#catalogue fieldset")
        expect(rows.first).to_be_visible()
        for number in range(12):
            rows.nth(number).get_by_role("radio").nth(number % 5).check(force=True)
        page.get_by_role("button", name="Agree and send 12 answers").click()
        expect(page.locator("#status")).to_contain_text("12 reports sent and stored")
        fifth = page.locator("#recommendations li").nth(4)
        for _ in range(30):  # the model is learnt from what made-up people send meanwhile
            with contextlib.suppress(AssertionError):  # a busy machine may need seconds to draw it
                expect(fifth).to_be_visible(timeout=5_000)
                break
            page.reload()
        expect(fifth).to_be_visible()
        page.reload()
        expect(page.locator("#catalogue input:checked")).to_have_count(12)
