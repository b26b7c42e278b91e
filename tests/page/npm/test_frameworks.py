"""The examples for React and Vue, bundled, in Chromium: a person rates, agrees, and gets films."""

import json
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import packed_device
import pytest
from film_questions import TITLES, question
from playwright.sync_api import Browser, Page, expect
from processes import free_port
from visits import PATIENCE, violations

pytestmark = pytest.mark.browser
EXAMPLES = packed_device.ROOT / "examples"
FRAMEWORKS = ("react", "vue")


def manifest(framework: str) -> dict[str, Any]:
    return json.loads((EXAMPLES / framework / "package.json").read_text())


def build(framework: str, source: Path) -> None:
    """Builds a site as the example's own script does, with the bundler of this repository."""
    build, _, copy = manifest(framework)["scripts"]["build"].partition(" && ")
    bundler, *options = shlex.split(build)
    assert (bundler, copy) == ("esbuild", "cp index.html site")
    packed_device.node(packed_device.MODULES / "esbuild" / "bin" / "esbuild", *options, cwd=source)
    shutil.copy(source / "index.html", source / "site")


@pytest.fixture(params=FRAMEWORKS)
def framework(request) -> str:
    return request.param


@pytest.fixture
def site(framework: str, both: Path, tmp_path: Path) -> Path:
    """The folder of a site that was built from an example."""
    source = tmp_path / "source"
    shutil.copytree(EXAMPLES / framework, source)
    shutil.copytree(both / "node_modules", source / "node_modules")
    for path in packed_device.MODULES.glob("[!.]*"):
        (source / "node_modules" / path.name).symlink_to(path)
    build(framework, source)
    return source / "site"


@pytest.fixture
def url(framework: str, site: Path, provide, serve_files) -> tuple[str, str]:
    """The page, and the collector: behind the site for React, at another origin for Vue."""
    if framework == "react":
        provider = provide(question(), site=site)
        return f"{provider.url}index.html", provider.url
    port = free_port()
    own = f"http://127.0.0.1:{port}"
    provider = provide(question(), origins=[own])
    page = site / "index.html"
    text = page.read_text()
    assert "https://films.example" in text
    page.write_text(text.replace("https://films.example", provider.url.rstrip("/")))
    serve_files(site, port)
    return f"{own}/index.html", provider.url


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, url: tuple[str, str], complaints: list[str]):
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto(url[0])
    yield page
    context.close()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_example_requires_the_packages_that_are_tested(framework):
    tested = json.loads((packed_device.TESTS / "package.json").read_text())["devDependencies"]
    device = json.loads((packed_device.ROOT / "npm" / "package.json").read_text())
    for name, version in manifest(framework)["dependencies"].items():
        file = f"file:../../dist/{name}-{device['version']}.tgz"
        assert version == (file if name.startswith("tacit-") else tested[name])


def stored(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "reports.db")) as store:
        return store.execute("SELECT count(*) FROM reports").fetchone()[0]


def test_a_person_rates_agrees_and_gets_films(page: Page, url, complaints, tmp_path):
    posts: list[str] = []
    page.on("request", lambda sent: posts.append(sent.url) if sent.method == "POST" else None)
    expect(page.get_by_role("heading", level=1)).to_have_text("Films")
    assert violations(page) == []
    for place, level in enumerate("42"):
        page.get_by_label(TITLES[place]).select_option(level)
    expect(page.get_by_role("listitem")).to_have_count(5)
    expect(page.locator("tacit-consent")).to_contain_text("sends 2 answers")
    expect(page.get_by_role("heading", name="Help others find films")).to_be_visible()
    page.get_by_text("Full terms").click()
    assert violations(page) == []
    assert posts == []
    page.get_by_role("radio", name="Little noise").check()
    page.get_by_label("Your lifetime limit").fill("50")
    page.get_by_role("button", name="Agree and send").click()
    expect(page.get_by_role("status")).to_have_text("2 reports sent.")
    expect(page.locator("tacit-consent")).to_have_count(0)
    best = page.get_by_role("listitem").all_inner_texts()
    assert len(best) == 5
    assert set(best) <= set(TITLES[2:])
    assert violations(page) == []
    page.reload()
    expect(page.get_by_label(TITLES[0])).to_have_value("4")
    expect(page.locator("tacit-consent")).to_have_count(0)
    (post,) = posts
    assert post.startswith(url[1])
    assert stored(tmp_path) == 2
    assert complaints == []


def test_who_declines_sends_nothing_and_gets_films(page: Page, tmp_path):
    page.get_by_label(TITLES[0]).select_option("4")
    page.get_by_role("button", name="Not now").click()
    expect(page.locator("tacit-consent")).to_have_count(0)
    expect(page.get_by_role("listitem")).to_have_count(5)
    assert stored(tmp_path) == 0
