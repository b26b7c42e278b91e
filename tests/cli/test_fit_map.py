"""`tacit fit SOURCE TARGET`: maps through files, with the settings and the guarantee of the fit."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from tacit.cli.learning.fit_map import MAPS
from tacit.crossdomain.x_map.fitting import SYSTEMS
from tacit.crossdomain.x_map.released import load_map
from tacit.readers import synthetic

STORE = Path(__file__).parent.parent / "formats" / "0.1.0" / "rated.collector.db"
FORMS = {
    "x-map-strict": ("--epsilon", "8"),
    "x-map-factors": ("--epsilon", "8"),
    "x-map": ("--epsilon", "1.1"),
    "nx-map": (),
    "nx-map-everybody": (),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Books by users 1 to 120, films by users 41 to 160, and the books of user 50."""
    folder = tmp_path_factory.mktemp("domains")
    books = synthetic(120, 60, 3000, rng=0).to_polars()
    films = synthetic(120, 70, 3000, rng=1).to_polars().with_columns(pl.col("user") + 40)
    books = books.with_columns(item=pl.lit("b") + pl.col("item").cast(pl.String))
    films = films.with_columns(item=pl.lit("f") + pl.col("item").cast(pl.String))
    books.write_csv(folder / "books.csv")
    films.write_csv(folder / "films.csv")
    mine = books.filter(pl.col("user") == 50).select("item", "rating")
    mine.write_csv(folder / "mine.csv")
    return folder / "books.csv", folder / "films.csv", folder / "mine.csv"


@pytest.fixture
def fit(run, files, tmp_path):
    """Fit a map; gives (status, path, errors)."""

    def command(model, *more):
        path = tmp_path / f"{model}.map"
        asked = ("--scale", "1:5:1", "--model", model, *FORMS[model], "-o", path, *more)
        status, printed, errors = run("fit", *files[:2], *asked)
        assert printed == ""
        return status, path, errors

    return command


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", FORMS)
def test_a_map_is_fitted_saved_and_recommends(run, files, fit, model):
    status, path, errors = fit(model)
    assert status == 0, errors
    guarantee = load_map(path).guarantee
    assert errors.splitlines()[-1].endswith(f". {guarantee.sentence}")
    status, printed, errors = run("recommend", path, "--user", 50, "--profile", files[2], "-n", 5)
    assert status == 0, errors
    best = [line.split("\t") for line in printed.splitlines()]
    assert len(best) == 5
    assert all(item.startswith("f") for item, _ in best)
    ratings = [float(rating) for _, rating in best]
    assert ratings == sorted(ratings, reverse=True)
    assert all(1 <= rating <= 5 for rating in ratings)
    stated = "" if guarantee.epsilon is None else " The guarantee is as stated by the provider."
    assert errors == f"{guarantee.sentence}{stated}\n"
    of_the_data = run("recommend", path, "--user", 50, "--source", files[0], "-n", 5)
    assert of_the_data[:2] == (0, printed)
    status, _, errors = run("label", path, "-o", path.with_suffix(".html"))
    assert status == 0, errors


def test_the_number_of_ratings_is_printed_only_without_a_guarantee(fit):
    assert "from 6,000 ratings. No privacy" in fit("nx-map")[2]
    _, path, private = fit("x-map-strict")
    private = private.replace(str(path), "")
    assert not any(number in private for number in ("3,000", "6,000", "120"))


def test_settings_are_obeyed(fit):
    neighbours = {
        k: load_map(fit("nx-map", "--set", f"k={k}", "--set", "stages=true")[1]).neighbours
        for k in (3, 9)
    }
    assert {k: each.shape[1] for k, each in neighbours.items()} == {3: 3, 9: 9}
    factors = load_map(fit("x-map-factors", "--epsilon", "60", "--factors", "3")[1])
    assert factors.published.factors == 3
    claimed = load_map(fit("x-map", "--set", "neighbour_epsilon=2")[1]).guarantee
    assert (claimed.epsilon, "at epsilon 2 per row" in claimed.fails) == ("3.1", True)
    assert "delta = 1e-09" in fit("x-map-strict", "--delta", "1e-9")[2]


@pytest.mark.parametrize(
    ("model", "more", "words"),
    [
        ("nx-map", ("--epsilon", "1"), "nx-map has no privacy and no epsilon"),
        ("nx-map", ("--set", "kk=1"), "has no setting 'kk'"),
        ("nx-map", ("--set", "k=few"), "k of nx-map must be an integer, got 'few'"),
        ("nx-map", ("--set", "k=0"), "k must be at least 1"),
        ("nx-map", ("--set", "k"), "--set must be NAME=VALUE"),
        ("nx-map", ("--set", "variant=user"), "predicts from the ratings of other users"),
        ("nx-map", ("--set", "mode=faithful"), "mode of nx-map cannot be changed"),
        ("nx-map", ("--factors", "3"), "has no setting 'factors'"),
        ("x-map-strict", ("--set", "k=3"), "has no setting 'k'"),
        ("x-map-strict", ("--plan", "rated"), "--plan is not an option of a cross-domain map"),
        ("x-map-strict", ("--mode", "faithful"), "--mode is not an option"),
        ("x-map-strict", ("--seed", "1"), "--seed is not an option"),
        ("x-map-strict", ("--least", "9"), "--least is not an option"),
        ("x-map-strict", ("--publish", "models"), "published with both --publish and --db"),
        ("x-map-strict", ("--db", "reports.db"), "published with both --publish and --db"),
        ("nx-map", ("--publish", "m", "--db", "d"), "nx-map cannot be published: it has no priv"),
        ("x-map", ("--publish", "m", "--db", "d"), "x-map cannot be published: its published cla"),
    ],
)
def test_options_without_effect_are_refused_before_data_are_read(fit, model, more, words):
    status, path, errors = fit(model, *more)
    assert (status, path.exists()) == (1, False)
    assert words in errors
    assert len(errors.splitlines()) == 1


def test_the_command_knows_every_map():
    assert MAPS == tuple(SYSTEMS) == tuple(FORMS)


def test_several_domains_require_the_name_of_a_map(run, files, tmp_path):
    path = tmp_path / "map"
    for more in ((), ("--model", "ease")):
        status, _, errors = run("fit", *files[:2], *more, "-o", path)
        assert (status, "x-map-strict, x-map-factors, x-map, nx-map" in errors) == (1, True)
    status, _, errors = run("fit", files[0], "--model", "nx-map", "-o", path)
    assert (status, "requires at least a source and a target" in errors) == (1, True)


def test_a_map_requires_the_ratings_of_its_user(run, files, fit):
    path = fit("nx-map")[1]
    status, _, errors = run("recommend", path, "--user", 50)
    assert (status, "exactly one of --profile and --source" in errors) == (1, True)
    both = ("--profile", files[2], "--source", files[0])
    assert run("recommend", path, "--user", 50, *both)[0] == 1
    status, _, errors = run("recommend", path, "--user", 999, "--source", files[0])
    assert (status, "no ratings by user '999'" in errors) == (1, True)


def test_only_a_map_has_sources(run, files, tmp_path):
    path = tmp_path / "model"
    assert run("fit", files[0], "--model", "bias", "--scale", "1:5:1", "-o", path)[0] == 0
    status, _, errors = run("recommend", path, "--user", 50, "--source", files[0])
    assert (status, "--source requires a cross-domain map" in errors) == (1, True)


def test_a_map_is_not_published_for_a_task_without_source_items(run, files, fit, tmp_path):
    """This task asks about items 0 to 9 on another catalogue."""
    store = shutil.copy(STORE, tmp_path)
    status, path, errors = fit("x-map-strict", "--publish", tmp_path / "models", "--db", store)
    assert (status, path.exists()) == (1, False), "nothing is released that cannot be published"
    assert "contains none of the 60 source items" in errors
    assert not list(tmp_path.glob("models/*"))
