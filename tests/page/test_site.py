"""The built site, page by page in a browser: every link leads somewhere, and nothing is fetched."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urldefrag, urljoin

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
PAGES = sorted(
    str(page.relative_to(ROOT / "docs").with_suffix(".html")) for page in ROOT.glob("docs/**/*.md")
)

pytestmark = pytest.mark.browser


class Silent(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    assert (SITE / "index.html").exists(), "There is no site to look at; run 'make site'."
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page(browser: Browser, address):
    """A tab whose every request stays on this server, and is answered."""
    context = browser.new_context()
    page = context.new_page()
    lost: list[str] = []
    page.on(
        "request", lambda r: None if r.url.startswith((address, "data:")) else lost.append(r.url)
    )
    page.on("response", lambda r: lost.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    yield page
    context.close()
    assert not lost


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole(name, page, address):
    """No violation that axe knows; every link of it to the site has a page, and the place in it."""
    page.goto(address + name)
    page.add_script_tag(path=AXE)
    found = page.evaluate(
        "axe.run().then(told => told.violations.map(v => [v.id, v.nodes[0].html]))"
    )
    assert not found
    for target in page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)"):
        place, anchor = urldefrag(urljoin(address + name, target))
        if place.startswith(address):
            file = SITE / (place.removeprefix(address) or "index.html")
            assert file.is_file(), f"{name} links to {target}"
            named = not anchor or f'id="{anchor}"' in file.read_text() or file.suffix != ".html"
            assert named, f"{name} links to {target}"


def test_search_finds_a_page_by_its_words(page, address):
    page.goto(address + "search.html?q=threat")
    expect(
        page.locator("#search-results a[href*='explanation/threat-model']").first
    ).to_be_visible()
    page.goto(address + "search.html?q=zzyzzy")
    expect(page.locator("#search-results")).to_contain_text("did not match any documents")


def test_the_reference_has_every_public_name():
    import tacit

    reference = (SITE / "reference" / "python.html").read_text()
    missing = [name for name in tacit.__all__ if f'id="tacit.{name}"' not in reference]
    assert not missing
