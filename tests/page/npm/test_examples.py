"""The examples in Chromium, on a site of its own: they ask, send and recommend."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import packed_device
import pytest
from film_questions import TITLES, question
from playwright.sync_api import Browser, Dialog

pytestmark = pytest.mark.browser
EXAMPLES = packed_device.ROOT / "examples" / "web"
BUNDLED = pytest.mark.parametrize("bundled", [False, True], ids=["as it is", "bundled"])


@pytest.fixture
def site(installed: Path, tmp_path: Path) -> Path:
    """The examples beside the installed package."""
    folder = tmp_path / "site"
    shutil.copytree(EXAMPLES, folder)
    shutil.copytree(installed / "node_modules", folder / "node_modules")
    return folder


def bundle(site: Path, name: str) -> None:
    """An example in one file; the package is gone."""
    whole = site / "whole.js"
    packed_device.bundle(site / name, whole)
    whole.replace(site / name)
    shutil.rmtree(site / "node_modules")


def stored(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "reports.db")) as store:
        return store.execute("SELECT count(*) FROM reports").fetchone()[0]


@BUNDLED
@pytest.mark.parametrize("agreed", [True, False], ids=["agreed", "not agreed"])
def test_the_page(browser: Browser, provide, site, tmp_path, bundled, agreed):
    if bundled:
        bundle(site, "page.js")
    provider = provide(question(), site=site)
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if dialog.type == "prompt":
            dialog.accept("4")
        else:
            dialog.accept() if agreed else dialog.dismiss()

    page = browser.new_page()
    page.on("dialog", answer)
    page.goto(f"{provider.url}page.html")
    page.wait_for_function("document.body.textContent.includes(',')")
    best = page.evaluate("document.body.textContent.trim().split(', ')")
    page.close()
    assert len(asked) == 2
    assert TITLES[0] in asked[0]
    assert len(best) == 5
    assert set(best) <= set(TITLES[1:])
    provider.stop()
    assert stored(tmp_path) == int(agreed)


@BUNDLED
def test_the_service_worker(browser: Browser, provide, site, tmp_path, bundled):
    if bundled:
        bundle(site, "worker.js")
    provider = provide(question(), site=site)
    (site / "empty.html").write_text("<!doctype html>")
    page = browser.new_page()
    page.goto(f"{provider.url}empty.html")
    told = {"item": 0, "level": "4", "terms": {"mostEpsilon": "1", "lifetime": "50"}}
    said = page.evaluate(
        """async (told) => {
            const heard = new Promise((resolve) => (navigator.serviceWorker.onmessage = resolve));
            await navigator.serviceWorker.register("worker.js", { type: "module" });
            (await navigator.serviceWorker.ready).active.postMessage(told);
            return (await heard).data;
        }""",
        told,
    )
    page.close()
    provider.stop()
    assert said["stored"] == stored(tmp_path) == 1
    assert len(said["best"]) == 5
    assert 0 not in {each["item"] for each in said["best"]}
