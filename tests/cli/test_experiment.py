"""An experiment file runs what was run: same data, splits, systems, settings and channels."""

import inspect
import json
import re
import tomllib

import polars as pl
import pytest

from tacit import RequestError, compare
from tacit.channels import CANDIDATES, choose_channel, compile_channel
from tacit.cli.evaluating import experiment
from tacit.cli.evaluating.compare import compare as compare_command
from tacit.collection.named_plans import channel_of, resolve_auto
from tacit.experiments.comparison import experiment_file
from tacit.experiments.comparison.comparison import Comparison
from tacit.models import MF
from tacit.scale import RatingScale

BY_HAND = """
digest = "0"
[compare]
data = "made.csv"
channel = "laplace"
epsilon = "0.5"
model = "bias"
scale = "1:5:1"
seeds = 1
folds = 2
"""
STARS = RatingScale.parse("1:5:1")


WRITTEN = {}
"""What the run of `first` left in its folder, by name."""


@pytest.fixture
def first(tmp_path, ratings, run):
    """The file that a run wrote: two epsilons, at which auto stands for different tables."""
    for name, data in WRITTEN.items():
        (tmp_path / name).write_bytes(data)
    if WRITTEN:
        return tmp_path / "out.toml"
    ratings.to_polars().write_csv(tmp_path / "made.csv")
    status, _, said = run(
        "compare", tmp_path / "made.csv", "--scale", "1:5:1", "--model", "bias", "--channel",
        "auto,laplace", "--epsilon", "0.5,3", "--seeds", 2, "--folds", 2, "--slices",
        "--relevant", 4, "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert status == 0, said
    WRITTEN.update({path.name: path.read_bytes() for path in tmp_path.iterdir()})
    return tmp_path / "out.toml"


@pytest.fixture
def written(tmp_path, ratings):
    """A file written by hand, for one small run."""
    ratings.to_polars().head(300).write_csv(tmp_path / "made.csv")
    path = tmp_path / "hand.toml"
    path.write_text(BY_HAND)
    return path


def rows(path):
    return json.loads(path.read_text())


def settings(path):
    """Of each row all that is no measurement."""
    noise = re.compile(r"rmse|mae|mse|at_[12]0|mrr|seconds|slices|efficiency")
    return [{k: v for k, v in row.items() if not noise.search(k)} for row in rows(path)]


def free(path):
    """Of each row without privacy its errors, which no channel's noise moves."""
    return [(row["rmse"], row["mae"]) for row in rows(path) if row["channel"] == "identity"]


def test_a_result_runs_again_from_itself(first, run, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    status, _, said = run("compare", first, "--json", other / "again.json")
    assert status == 0, said
    result, again = tmp_path / "out.json", other / "again.json"
    assert settings(again) == settings(result)
    assert free(again) == free(result)
    assert {row["seed"] for row in rows(again)} == {0, 1}
    assert {row["fold"] for row in rows(again)} == {0, 1}
    noisy = [row["rmse"] for row in rows(again) if row["channel"] == "laplace"]
    assert noisy != [row["rmse"] for row in rows(result) if row["channel"] == "laplace"]
    told, written = (tomllib.loads(path.read_text()) for path in (first, other / "again.toml"))
    assert written["compare"].pop("data") == "../made.csv"
    assert told["compare"].pop("data") == "made.csv"
    assert written == told


@pytest.mark.spark
def test_it_runs_again_on_spark_with_the_figures_of_this_process(written, run, tmp_path):
    """Where it runs is given beside the file, and in none."""
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    text = written.read_text().replace('"laplace"', '"identity"')
    written.write_text(text.replace('digest = "0"\n', ""))
    assert run("compare", written, "--json", here)[0] == 0
    spark = ("--engine", "spark", "--master", "local[2]")
    status, _, said = run("compare", written, *spark, "--json", there)
    assert status == 0, said
    figures = [[{k: v for k, v in row.items() if "seconds" not in k} for row in rows(path)]
               for path in (here, there)]  # fmt: skip
    assert figures[0] == figures[1]
    assert tomllib.loads(here.with_suffix(".toml").read_text()) == tomllib.loads(
        there.with_suffix(".toml").read_text()
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("--engine", "flink"), "--engine must be local or spark, got 'flink'"),
        (("--master", "local[2]"), "--master local[2] requires --engine spark"),
        (("--engine", "spark", "--master", "elsewhere"), "master must be a Spark master"),
    ],
)
def test_where_it_cannot_run_is_said_of_a_file_too(written, run, asked, sentence):
    written.write_text(written.read_text().replace('digest = "0"\n', ""))
    for data in (written, written.with_name("made.csv")):
        status, _, said = run("compare", data, *asked)
        assert status == 1
        assert sentence in " ".join(said.split())


def test_devices_of_a_model_of_lists_stay_here(run, written):
    status, _, said = run(
        "compare", written.with_name("made.csv"), "--model", "ease", "--engine", "spark"
    )
    assert status == 1
    assert "Devices with ease can only be simulated in this process" in " ".join(said.split())


def test_auto_stands_for_what_the_file_says(first, run, tmp_path):
    table = tomllib.loads(first.read_text())
    assert set(table["auto"]) == {"0.5", "3"}
    first.write_text(re.sub(r'"0.5" = ".*"', '"0.5" = "laplace"', first.read_text()))
    status, _, said = run("compare", first, "--json", tmp_path / "moved.json")
    assert status == 0, said
    ids = {
        (row["channel"], row["epsilon"]): row["channel_id"] for row in rows(tmp_path / "moved.json")
    }
    assert ids["auto", 0.5] == ids["laplace", 0.5]
    assert ids["auto", 3] == choose_channel(epsilon="3", scale=STARS)[1].id
    assert tomllib.loads((tmp_path / "moved.toml").read_text())["auto"]["0.5"] == "laplace"


@pytest.mark.parametrize("plan", ["rated", "catalogue"])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_a_channel_is_found_again_by_its_name_and_settings(plan, epsilon):
    missing = plan != "rated"
    words = resolve_auto([(plan, epsilon)], STARS)[epsilon]
    table = channel_of(words, epsilon, STARS, missing=missing)
    assert table.id == choose_channel(epsilon=epsilon, scale=STARS, missing=missing)[1].id


def test_settings_of_a_name_reach_the_table():
    ids = [channel_of(w, "3", STARS).id for w in ("optimal", "optimal objective=information")]
    assert ("optimal", {"objective": "information"}) in CANDIDATES
    assert ids == [
        compile_channel("optimal", epsilon="3", scale=STARS, **options).id
        for options in ({}, {"objective": "information"})
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (r'digest = ".*"', 'digest = "1"', "differ from the experiment's"),
        (r'digest = ".*"', "digest = ", "is not an experiment file: Invalid value"),
        (r'data = ".*"', "", r"is not an experiment file: it has no table \[compare\] with data"),
        ("seeds = 1", "sseeds = 2", "No such option: --sseeds"),
        ("seeds = 1", 'seeds = "two"', "Invalid value for '--seeds'"),
        ("folds = 2", "folds = 1", "got 1 seeds and 1 folds"),
    ],
)
def test_a_file_that_is_none_is_a_sentence(written, run, old, new, says):
    text = written.read_text()
    changed = re.sub(old, new, text)
    assert changed != text
    written.write_text(changed)
    status, printed, said = run("compare", written)
    assert status in (1, 2)
    assert re.search(says, said)
    assert "Traceback" not in said
    assert printed == ""


def test_a_file_without_a_digest_takes_any_ratings(written, run):
    written.write_text(re.sub('digest = ".*"', "", written.read_text()))
    assert run("compare", written)[0] == 0


def test_options_beside_a_file_are_refused_by_name(written, run):
    status, _, said = run("compare", written, "--seeds", 3, "--person-epsilon", "1")
    assert status == 1
    refused = "defines the complete experiment, so --person-epsilon, --seeds cannot be"
    assert f"{written} {refused}" in said


def test_a_file_is_not_written_over_by_its_own_run(written, run):
    before = written.read_bytes()
    status, printed, said = run("compare", written, "--json", written.with_suffix(".json"))
    assert status == 1
    assert f"{written} is an input and would be overwritten" in said
    assert printed == ""
    assert written.read_bytes() == before


def test_a_list_is_written_without_commas(written, run):
    text = re.sub('digest = ".*"', "", written.read_text())
    written.write_text(text.replace('"0.5"', "[0.5, 3]"))
    status, printed, _ = run("compare", written)
    assert status == 0
    assert "Epsilon = 0.5 or 3 per value" in printed


@pytest.mark.long
def test_one_axis_runs_again(run, tmp_path, ratings):
    ratings.to_polars().write_csv(tmp_path / "made.csv")
    status, _, said = run(
        "compare", tmp_path / "made.csv", "--scale", "1:5:1", "--model", "bias", "--person-epsilon",
        "4", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert status == 0, said
    table = tomllib.loads((tmp_path / "out.toml").read_text())
    assert table["compare"]["person-epsilon"] == "4"
    assert "plan" not in table["compare"]
    assert len(table["auto"]) == 2
    assert run("compare", tmp_path / "out.toml", "--json", tmp_path / "again.json")[0] == 0
    assert settings(tmp_path / "again.json") == settings(tmp_path / "out.json")


ASKED = {"models": "bias", "channels": "auto,laplace", "epsilons": [0.5, 3], "folds": 2, "seeds": 2}


def table(path):
    return tomllib.loads(path.read_text())


def test_python_writes_the_file_that_the_command_line_does(first, tmp_path):
    more = {"scale": "1:5:1", "slices": True, "relevant": 4}
    compare(tmp_path / "made.csv", path=tmp_path / "python.json", **ASKED, **more)
    assert table(tmp_path / "python.toml") == table(first)


def test_what_python_compared_runs_again_from_a_shell(tmp_path, ratings, run):
    """Read as it was: by names of columns, a catalogue and people from files."""
    renamed = ratings.to_polars().rename({"user": "who", "rating": "stars"})
    renamed.write_csv(tmp_path / "made.csv")
    for name, ids in (("item", ratings.item_ids.ids), ("user", ratings.user_ids.ids)):
        ids.head(50).alias(name).to_frame().write_csv(tmp_path / f"{name}s.csv")
    reading = {"columns": {"user": "who", "rating": "stars"}, "scale": "0:5:1", "format": "table"}
    files = {"catalogue": tmp_path / "items.csv", "people": str(tmp_path / "users.csv")}
    asked = ASKED | {"split": "time", "folds": None, "test_share": 0.2, "delta": 1e-5, "factors": 0}
    asked["models"] = "mf"
    compare(tmp_path / "made.csv", path=tmp_path / "out.json", **asked, **reading, **files)
    assert table(tmp_path / "out.toml")["compare"]["columns"] == "user=who,rating=stars"
    status, _, said = run("compare", tmp_path / "out.toml", "--json", tmp_path / "again.json")
    assert status == 0, said
    assert settings(tmp_path / "again.json") == settings(tmp_path / "out.json")
    assert free(tmp_path / "again.json") == free(tmp_path / "out.json")
    assert table(tmp_path / "again.toml") == table(tmp_path / "out.toml")


@pytest.mark.parametrize(
    ("reading", "written"),
    [
        ({"columns": (1, 2, 3), "scale": "1:5:1"}, {"columns": "1,2,3"}),
        (
            {"columns": (1, 2, 3), "scale": "there", "positive_only": True},
            {"columns": "1,2,3", "positive-only": True, "implicit": True},
        ),
    ],
)
def test_reader_options_of_python_run_again_from_a_shell(tmp_path, ratings, run, reading, written):
    data, out = tmp_path / "stars.csv", tmp_path / "out.json"
    stars = ratings.to_polars().head(900).select("user", "item", "rating")
    implicit = "implicit" in written
    weights = stars.with_columns(pl.col("rating") - 1)  # some are 0
    (weights if implicit else stars).write_csv(data, include_header=False)
    compare(data, models="popularity" if implicit else "bias", epsilons=4, path=out, **reading)
    settings = table(tmp_path / "out.toml")["compare"]
    assert written.items() <= settings.items()
    assert settings.get("scale") == (None if implicit else "1:5:1")
    status, _, said = run("compare", tmp_path / "out.toml", "--json", tmp_path / "again.json")
    assert status == 0, said
    assert "deprecated" not in said
    assert table(tmp_path / "again.toml")["compare"] == settings


def test_ratings_in_memory_are_known_by_their_checksum(tmp_path, ratings, run):
    path = tmp_path / "out.toml"
    compare(ratings.to_polars(), path=tmp_path / "out.json", models="bias", epsilons=1)
    assert table(path)["compare"]["scale"] == "1:5:1"
    status, _, said = run("compare", path, "--json", tmp_path / "again.json")
    assert status == 1
    assert f"{path} was run on ratings in memory; write them to a file, and set its path" in said
    ratings.to_polars().write_csv(tmp_path / "made.csv")
    ratings.to_polars().head(1000).write_csv(tmp_path / "other.csv")
    without = path.read_text()
    for name, expected in (("made.csv", 0), ("other.csv", 1)):
        path.write_text(without.replace("[compare]\n", f"[compare]\ndata = '{name}'\n"))
        status, _, said = run("compare", path, "--json", tmp_path / "again.json")
        assert status == expected, said
        assert expected == 0 or "differ from the experiment's" in said
    assert free(tmp_path / "again.json") == free(tmp_path / "out.json")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"models": [MF(factors=2), "bias"]}, "mf with factors=2"),
        ({"channels": compile_channel("duchi", epsilon=1, scale="1:5:1")}, "table "),
        ({"models": "channel-mf", "items": pl.DataFrame({"item": [1], "kind": ["a"]})},
         "a table of items"),
        ({"people": list(range(1, 31)), "catalogue": list(range(1, 61))},
         "the catalogue as a list, the people as a list"),
    ],
)  # fmt: skip
def test_what_has_no_name_on_a_command_line_is_refused_there(tmp_path, ratings, run, change, named):
    data, out = tmp_path / "made.csv", tmp_path / "out.json"
    ratings.to_polars().head(600).write_csv(data)
    quick = {"models": "bias", "epsilons": 1, "scale": "1:5:1"}
    compare(data, path=out, **quick | change)
    status, printed, said = run("compare", out.with_suffix(".toml"))
    assert status == 1
    assert re.search(rf"compares {named}.*, which have no name on the command line; run it", said)
    assert printed == ""


def test_python_does_not_write_over_what_it_reads(tmp_path, ratings):
    ids = tmp_path / "out.toml"
    ratings.user_ids.ids.alias("user").to_frame().write_csv(ids)
    before = ids.read_bytes()
    with pytest.raises(RequestError, match="is an input and would be overwritten"):
        compare(ratings.to_polars(), models="bias", path=tmp_path / "out.json", people=ids)
    assert ids.read_bytes() == before


def test_the_experiment_file_repeats_every_option_of_the_command(tmp_path, run, ratings):
    """Each parameter is written, is an output or the engine, or has a reason here."""
    clicks = tmp_path / "clicks.csv"
    ratings.to_polars().select("user", "item", weight="rating").write_csv(clicks)
    status, _, said = run(
        "compare", clicks, "--implicit", "--positive-only", "--columns", "rating=weight",
        "--model", "popularity", "--epsilon", 1, "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert status == 0, said
    written = {name.replace("-", "_") for name in table(tmp_path / "out.toml")["compare"]}
    every = Comparison(channels=["auto"], models=["bias"], epsilons=["1"])
    written |= {name.replace("-", "_") for name in experiment_file.options(every)}
    assert {"data", "implicit", "columns", "positive_only"} <= written
    if_given = {
        "catalogue", "people", "items", "format", "rounding", "person_epsilon", "factors", "scale"
    }  # fmt: skip
    assert "set" in written  # as `changed`
    parameters = set(inspect.signature(compare_command).parameters) - {"context", "changed"}
    assert parameters - written - if_given - set(experiment.WHERE) == set()
    assert run("compare", tmp_path / "out.toml", "--json", tmp_path / "again.json")[0] == 0
