"""The command line: statuses, sentences, and that nothing is written when something is wrong."""

import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from tacit import readers
from tacit.reporting.plot import inline
from tacit.results.comparison.row import KEYS

REQUEST = "tacit.experiments.comparison.request"
MEMBERS = "tacit.experiments.comparison.members"


@pytest.fixture(autouse=True)
def simple(monkeypatch, find, compared):
    """Models simple enough to check, and one that says almost nothing under every name."""
    monkeypatch.setattr(f"{MEMBERS}.learner", find)
    for module in (REQUEST, "tacit.experiments.attacks"):
        monkeypatch.setattr(f"{module}.check_channels", lambda *names: None)
    for module in ("tacit.collection.named_plans", "tacit.experiments.attacks"):
        monkeypatch.setattr(f"{module}.plan_of", compared().make_plan)


@pytest.fixture
def data(tmp_path, ratings):
    path = tmp_path / "made.csv"
    ratings.to_polars().write_csv(path)
    return path


@pytest.mark.sampled(6)
def test_a_malformed_file_is_one_sentence_and_nothing_else(run, malformed, tmp_path):
    path, case = malformed
    options = ["--scale", case.scale] if case.scale else []
    options += ["--columns", case.columns] if case.columns else []
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    status, printed, said = run("compare", path, *options, "--json", out, "--report", page)
    assert status == 1
    assert printed == ""
    last = said.splitlines()[-1]
    assert str(path) in last
    assert all(name in last for name in case.names)
    assert "Traceback" not in said
    assert [file.name for file in tmp_path.iterdir()] == ["data"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_compare_prints_tables_and_writes_what_it_is_told(run, data, tmp_path):
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    status, printed, said = run(
        "compare", data, "--channel", "even,identity", "--model", "mean,other", "--epsilon",
        "0.5,1,0.5", "--seeds", 2, "--scale", "1:5:1", "--json", out, "--report", page,
    )  # fmt: skip
    assert status == 0, said
    rows = json.loads(out.read_text())
    ranked = [row.pop("ranked_by") for row in rows if "ranked_by" in row]
    assert ranked == ["gain"] * len(rows)  # all models of this test predict ratings
    assert all(tuple(row) == KEYS for row in rows)
    assert len(rows) == 2 * 2 * (4 + 2 * 3)  # seeds, places, models: random without privacy only
    assert {row["dataset"] for row in rows} == {"made"}
    assert [row["channel"] for row in rows].count("identity") == 2 * 2 * 4
    assert pl.read_parquet(tmp_path / "out.parquet").height == len(rows)
    assert re.search(r"^channel +model +where +0\.5 +1 +no privacy$", printed, re.MULTILINE)
    assert "Epsilon = 0.5 or 1 per value, trusting nobody" in printed
    assert printed.splitlines()[-1].startswith("No privacy:")
    assert "Reports of one device" in page.read_text()
    assert not list(tmp_path.glob("*.journal"))


def test_slices_are_printed_and_written_when_asked_for(run, data, tmp_path):
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    common = ("compare", data, "--channel", "even", "--model", "mean", "--epsilon", "1")
    status, printed, said = run(*common, "--slices", "--json", out, "--report", page)
    assert status == 0, said
    rows = json.loads(out.read_text())
    assert all({part["by"] for part in row["slices"]} == {"activity", "popularity"} for row in rows)
    assert "RMSE by decile of users" in printed
    assert "RMSE by decile of items" in printed
    assert "Information efficiency on the device" in printed
    assert "Accuracy by user and item activity" in page.read_text()
    assert "decile" not in run(*common)[1]


def test_folds_and_time(run, data, tmp_path):
    out = tmp_path / "out.json"
    common = ("compare", data, "--channel", "even", "--epsilon", "1", "--json", out)
    assert run(*common, "--folds", 3)[0] == 0
    assert [row["fold"] for row in json.loads(out.read_text())[::10]] == [0, 1, 2]
    assert run(*common, "--split", "time")[0] == 0
    assert {row["fold"] for row in json.loads(out.read_text())} == {None}


def test_a_split_may_be_each_persons_last_or_a_column_of_the_file(run, data, tmp_path):
    """What is tested on is counted."""
    out, frame = tmp_path / "out.json", pl.read_csv(data)
    common = ("--channel", "even", "--epsilon", "1", "--json", out, "--split")
    assert run("compare", data, *common, "last")[0] == 0
    people = frame["user"].n_unique()
    assert {row["n_test"] for row in json.loads(out.read_text())} == {people}
    for held in (7, 9):
        frame.with_columns(part=pl.int_range(pl.len()) < held).write_csv(data)
        assert run("compare", data, *common, "column:part")[0] == 0
        assert {row["n_test"] for row in json.loads(out.read_text())} == {held}
    found, _, said = run("compare", data, *common, "column:test")
    assert (found, "column 'test' must be among" in said) == (1, True)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--epsilon", "1,zero"], 1, "got 'zero'"),
        (["--epsilon", "-1"], 1, "got '-1'"),
        (["--test-share", "2"], 1, "test_share must be between 0 and 1, got 2"),
        (["--seeds", "0"], 1, "0 seeds"),
        (["--split", "odd"], 1, "split must be random"),
        (
            ["--split", "last", "--test-share", "0.1"],
            1,
            "(--test-share) or split (--split last)",
        ),
        (["--plan", "all"], 1, "plan must be rated"),
        (["--cap", "0"], 1, "cap must be an integer"),
        (["--delta", "2"], 1, "delta must be between 0 and 1"),
        (["--format", "odd"], 1, "format must be one of"),
        (["--columns", "user"], 1, "--columns must be NAME=COLUMN pairs"),
        (["--columns", "who=user"], 1, "got 'who'"),
        (["--rounding", "odd"], 1, "rounding must be one of"),
        (["--scale", "1-5"], 1, "'1-5' is not of the form"),
        (["--json", "/nowhere/out.json"], 1, "/nowhere/out.json cannot be written"),
        (["--folds", "3", "--test-share", "0.1"], 2, "--folds and --test-share"),
        (["--mode", "odd"], 2, "strict, faithful"),
        (["--seeds", "many"], 2, "integer"),
        (["--nonsense"], 2, "--nonsense"),
    ],
)
def test_a_request_that_cannot_be_met(run, data, tmp_path, arguments, status, words):
    found, printed, said = run("compare", data, *arguments)
    assert found == status
    assert words in " ".join(said.replace("│", " ").split())
    assert printed == ""
    assert [file.name for file in tmp_path.iterdir()] == ["made.csv"]


def test_an_interrupt_without_files_still_shows_what_is_done(run, data, monkeypatch, find):
    begun = []

    class Stopping:
        def fit(self, data, *, rng=0):
            begun.append(data)
            if len(begun) == 3:
                raise KeyboardInterrupt
            return find("mean").settings.fit(data, rng=rng)

    def learner(name, mode="strict"):
        return dataclasses.replace(find(name), settings=Stopping())

    monkeypatch.setattr(f"{MEMBERS}.learner", learner)
    status, printed, said = run("compare", data, "--channel", "even", "--epsilon", "1,2,3")
    assert status == 130
    assert "Interrupted after 4 rows." in said
    assert "RMSE" in printed


def test_an_interrupt_elsewhere_is_a_sentence(run, data, tmp_path, monkeypatch):
    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.cli.options.load", interrupted)
    status, _, said = run(
        "perturb", data, "--channel", "auto", "--epsilon", "1", "-o", tmp_path / "out.parquet"
    )
    assert status == 130
    assert said == "Interrupted.\n"
    fit = ("fit", data, "--model", "mf", "--state", tmp_path / "state", "-o", tmp_path / "model")
    status, _, said = run(*fit)
    assert status == 130
    assert said == f"Interrupted. Run the same command again to resume from {tmp_path / 'state'}.\n"


@pytest.mark.long
def test_demo_needs_no_data(run, tmp_path, monkeypatch, ratings):
    monkeypatch.setattr("tacit.reporting.page.inline", inline)  # with pictures
    made = readers.synthetic  # the report's sample is made up by it, too
    monkeypatch.setattr(readers, "synthetic", lambda *size: made(*size) if size else ratings)
    page = tmp_path / "report.html"
    status, printed, said = run("demo", "--report", page)
    assert status == 0, said
    assert "auto" in printed
    assert page.read_text().startswith("<!doctype html>")


def test_notices_go_to_standard_error(run, data):
    _, printed, said = run("compare", data, "--channel", "even", "--epsilon", "1")
    assert "the scale 1:5:1 was inferred" in said
    assert "was inferred" not in printed


def test_help_names_the_verbs_and_loads_no_heavy_module():
    """In a process of its own, with the commands of other packages, and without heavy modules."""
    heavy = ("numpy", "polars", "numba", "scipy", "matplotlib")
    code = (
        "import sys; sys.argv = ['tacit', '--help']\n"
        "from tacit.cli import main\n"
        "try: main()\n"
        f"finally: print([m for m in {heavy} if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for verb in ("demo", "compare", "fit", "recommend", "download", "perturb", "channel", "paper"):
        assert f" {verb} " in found.stdout
    assert found.stdout.endswith("[]\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", ["demo", "compare", "perturb", "fit", "recommend", "download"])
def test_every_verb_has_an_example(run, verb):
    status, shown, _ = run(verb, "--help")
    assert status == 0
    assert "Example" in shown
    assert f"tacit {verb}" in shown


def test_stub_models_are_as_good_as_they_should_be(run, data, tmp_path, ratings):
    """The printed RMSE of the mean is the deviation of the held-out ratings."""
    out = tmp_path / "out.json"
    run("compare", data, "--channel", "identity", "--scale", "1:5:1", "--json", out)
    row = json.loads(out.read_text())[0]
    held_out = np.random.default_rng(0).random(len(ratings)) < 0.1
    true, mean = ratings.values[held_out], ratings.values[~held_out].mean()
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean((true - mean) ** 2)), rel=1e-5)
