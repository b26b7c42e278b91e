"""The packed device lives through every shared vector and scenario: in Node and in Chromium, as it
is and bundled."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import packed_device
import pytest
from playwright.sync_api import Browser, Route

VECTORS = packed_device.ROOT / "tests" / "vectors"
FILES = ("vectors", "scenarios", "hostile", "shuffled", "shuffled_blind_tokens", "moves")
FROM_NODE = ("node:assert/strict", "node:fs", "node:test")
SITE = "https://site.example"


def expected(name: str) -> int:
    """How many tests a file has; a scenario is one."""
    if name == "scenarios":
        return len(json.loads((VECTORS / "device_scenarios.json").read_text())["scenarios"])
    return len(re.findall(r"^test\(", (packed_device.TESTS / f"{name}.test.js").read_text(), re.M))


def test_no_shared_vector_is_left_out():
    texts = [(packed_device.TESTS / f"{name}.test.js").read_text() for name in FILES]
    texts += [(packed_device.TESTS / name).read_text() for name in ("scenario_device.js",)]
    read = set(re.findall(r'vectors\("(\w+)"\)|vectors/(\w+)\.json', "\n".join(texts)))
    assert {one or other for one, other in read} == {path.stem for path in VECTORS.glob("*.json")}


@pytest.mark.long
@pytest.mark.parametrize("bundled", [False, True], ids=["as it is", "bundled"])
@pytest.mark.parametrize("name", FILES)
def test_in_node(installed: Path, name: str, bundled: bool):
    file = installed / f"{name}.test.js"
    if bundled:
        packed_device.bundle(file, file := installed / f"{name}.node.js", "--platform=node")
        assert "node_modules" not in file.read_text()
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    said = packed_device.node(quiet, "--test", "--test-reporter=tap", file, cwd=installed)
    assert re.findall(r"^# (?:pass|fail) (\d+)$", said, re.M) == [str(expected(name)), "0"]


@pytest.fixture(scope="module")
def site(installed: Path) -> Path:
    """The folder, with a page on which the tests find what Node has."""
    stand_in = installed / "stand_in.js"
    packed_device.bundle(Path(__file__).with_name("stand_in.js"), stand_in)
    places = {"imports": dict.fromkeys(FROM_NODE, "/page/stand_in.js")}
    html = f'<!doctype html><script type="importmap">{json.dumps(places)}</script>'
    (installed / "index.html").write_text(html)
    return installed


@pytest.mark.browser
@pytest.mark.parametrize("bundled", [False, True], ids=["as it is", "bundled"])
@pytest.mark.parametrize("name", FILES)
def test_in_chromium(browser: Browser, site: Path, name: str, bundled: bool):
    file = site / f"{name}.test.js"
    if bundled:
        instead = [f"--alias:{one}=./stand_in.js" for one in FROM_NODE]
        packed_device.bundle(file, file := site / f"{name}.browser.js", *instead)
        assert "node_modules" not in file.read_text()

    def serve(route: Route) -> None:
        path = site.parent / urlsplit(route.request.url).path.lstrip("/")
        route.fulfill(path=path) if path.is_file() else route.fulfill(status=404)

    page = browser.new_page()
    page.route(f"{SITE}/**", serve)
    page.goto(f"{SITE}/page/index.html")
    said = page.evaluate(f"import('/page/{file.name}').then(() => tested())")
    page.close()
    assert [each for each in said if each[1] is not None] == []
    assert len(said) == expected(name)
