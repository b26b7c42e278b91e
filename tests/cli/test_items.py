"""`--items`: what a public table of items does to models, result rows and journals."""

import json

import polars as pl
import pytest

from tacit.models import Fitted
from tacit.readers import synthetic

QUICK = ("--factors", 2, "--scale", "1:5:1")


@pytest.fixture
def files(tmp_path):
    """Ratings of 60 items by 40 people, and what kind the items are."""
    synthetic(40, 60, 1000).to_polars().write_csv(tmp_path / "r.csv")
    kinds = [["War", "Drama", "Comedy"][item % 3] for item in range(1, 61)]
    table = pl.DataFrame({"item": range(1, 61), "genre": kinds, "year": [1990, 1999] * 30})
    table.write_csv(tmp_path / "films.csv")
    table.with_columns(year=2000).write_csv(tmp_path / "other.csv")
    return tmp_path


def test_a_fit_reads_the_table(run, files):
    asked = ("fit", files / "r.csv", "--epsilon", 1, *QUICK)
    status, _, said = run(*asked, "--items", files / "films.csv", "-o", files / "m")
    assert status == 0, said
    assert run(*asked, "-o", files / "plain")[0] == 0
    known, plain = (Fitted.load(files / name).presence for name in ("m", "plain"))
    assert known is not None
    assert plain is not None
    assert known.vectors.shape[1] == plain.vectors.shape[1] + 2 + 1


def test_rows_say_what_was_known_and_other_tables_are_other_runs(run, files):
    result = files / "out.json"
    asked = ("compare", files / "r.csv", "--model", "channel-mf,mf", "--epsilon", 1, *QUICK)
    status, printed, said = run(*asked, "--items", files / "films.csv", "--json", result)
    assert status == 0, said
    assert "channel-mf knowing genre, year" in printed
    rows = json.loads(result.read_text())
    assert {row["items"] for row in rows if row["model"] == "channel-mf"} == {"genre, year"}
    assert {"items" in row for row in rows if row["model"] == "mf"} == {False}


def test_a_journal_is_of_one_table(files):
    from tacit.experiments.comparison.comparison import Comparison
    from tacit.readers import item_table, read

    ratings = read(files / "r.csv", scale="1:5:1")
    tables = [None, item_table(files / "films.csv"), item_table(files / "other.csv")]
    asked = [
        Comparison(channels=["auto"], models=["channel-mf"], epsilons=["1"], items=table)
        for table in tables
    ]
    assert len({each.cells(ratings)[0].key for each in asked}) == 3


@pytest.mark.parametrize("verb", [("compare",), ("fit", "-o", "m")])
def test_a_table_that_no_model_reads_is_refused_before_any_work(run, files, verb):
    asked = (*verb, files / "r.csv", "--model", "bias", "--epsilon", 1, "--scale", "1:5:1")
    status, _, said = run(*asked, "--items", files / "films.csv")
    assert status == 1
    assert "items is not a setting of bias" in said
    assert "choose from channel-mf" in said
