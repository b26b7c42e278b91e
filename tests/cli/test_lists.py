"""Lists on the command line: the same verbs, for who did what."""

import json

import numpy as np
import pytest
from lists_world import world

from tacit.wire.list_model import is_list_model


@pytest.fixture
def clicks(tmp_path):
    """A file of two columns; ids are not codes."""
    path = tmp_path / "clicks.csv"
    table = world(np.random.default_rng(0).random((40, 30)) < 0.3).to_polars()
    table.select("user", item="item").write_csv(path)
    return path


def test_compare_is_the_same_command(run, clicks, tmp_path):
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    status, printed, said = run(
        "compare", clicks, "--scale", "there", "--epsilon", "2", "--json", out, "--report", page
    )
    assert status == 0, said
    rows = json.loads(out.read_text())
    assert {(row["model"], row["channel"], row["plan"]) for row in rows} == {
        ("ease", "identity", "catalogue"), ("ease", "auto", "catalogue"),
        ("popularity", "identity", "catalogue"), ("popularity", "auto", "catalogue"),
        ("random", "identity", "catalogue"),
    }  # fmt: skip
    assert all(row["rmse"] is None and 0 <= row["ndcg_at_20"] <= 1 for row in rows)
    assert "NDCG@20" in printed
    assert "RMSE" not in printed
    assert "the NDCG@20 on the device is" in page.read_text()


def test_a_list_model_is_fitted_and_recommends(run, clicks, tmp_path):
    model, mine = tmp_path / "model", tmp_path / "mine.csv"
    fitted = ("fit", clicks, "--scale", "there", "--model", "ease", "--epsilon", "4")
    assert run(*fitted, "--plan", "catalogue", "-o", model)[0] == 0
    mine.write_text("item\n3\n5\n999\n")
    status, printed, said = run("recommend", model, "--user", "me", "--profile", mine, "-n", 4)
    assert status == 0, said
    shown = [line.split("\t")[0] for line in printed.splitlines()]
    assert len(shown) == len(set(shown)) == 4
    assert not {"3", "5", "999"} & set(shown)
    assert "does not contain 1 of the 3 items" in said
    assert run("recommend", model, "--user", "me")[0] == 1
    mine.write_text("item\n999\n")
    status, _, said = run("recommend", model, "--user", "me", "--profile", mine)
    assert (status, "contains none of the 1 items" in said) == (1, True)


def test_fit_needs_no_more_words_than_compare(run, clicks, tmp_path):
    """Of who did what, ease and the catalogue, and of its reports the model alone."""
    model, sent = tmp_path / "model", tmp_path / "reports.parquet"
    status, _, said = run("fit", clicks, "--epsilon", "4", "-o", model)
    assert (status, "ease from" in said, "one symbol per slot" in said) == (0, True, True), said
    asked = ("--scale", "there", "--channel", "auto", "--epsilon", "4", "--plan", "sample:9")
    assert run("perturb", clicks, *asked, "-o", sent)[0] == 0
    status, _, said = run("fit", sent, "-o", model)
    assert (status, "ease from" in said, "per sampled slot" in said) == (0, True, True), said
    assert is_list_model(model.read_bytes())


@pytest.mark.parametrize(
    ("verb", "sentence"),
    [
        (("fit", "--model", "random", "--epsilon", "1", "-o", "model"), "not fitted to data"),
        (("fit", "--model", "mf", "-o", "model"), "got implicit feedback"),
        (("compare", "--plan", "rated", "--epsilon", "1"), "catalogue or sample:K"),
        (("compare", "--model", "mf", "--epsilon", "1"), "got implicit feedback"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(run, clicks, tmp_path, monkeypatch, verb, sentence):
    monkeypatch.chdir(tmp_path)
    status, _, said = run(verb[0], clicks, "--scale", "there", *verb[1:])
    assert status == 1
    assert sentence in said
    assert "Traceback" not in said
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--implicit",), 0, ""),
        (("--scale", "there"), 0, "--scale there is deprecated; use --implicit."),
        (("--implicit", "--scale", "1:5:1"), 1, "--implicit and --scale 1:5:1 cannot be combined"),
    ],
)
def test_implicit_feedback_is_an_option_of_its_own(run, tmp_path, arguments, status, words):
    data = tmp_path / "stars.csv"
    lines = [f"{user},{item},5" for user in range(30) for item in range(user % 5 + 3)]
    data.write_text("\n".join(["user,item,rating", *lines]) + "\n")
    common = ("--model", "popularity", "--epsilon", 2, "-o", tmp_path / "model")
    found, _, said = run("fit", data, *arguments, *common)
    assert found == status, said
    assert words in said
    assert status or is_list_model((tmp_path / "model").read_bytes())


def test_old_name_of_the_list_of_trainers_is_refused_with_the_new_one(run):
    status, _, said = run("list", "trainings")
    assert (status, "trainers" in said) == (1, True)
    assert "dp-ease" in run("list", "trainers")[1]
