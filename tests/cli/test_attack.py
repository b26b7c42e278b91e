"""`tacit attack`: rows, a report, and tables in words."""

import json

import polars as pl
import pytest

from tacit.readers import synthetic


@pytest.fixture
def files(tmp_path):
    """Ratings by 60 people, and a table of them."""
    synthetic(60, 50, 1500, rng=2).to_polars().write_csv(tmp_path / "r.csv")
    kinds = ["even", "odd"] * 30
    pl.DataFrame({"user": range(1, 61), "kind": kinds}).write_csv(tmp_path / "people.csv")
    return tmp_path


QUICK = ("--attack", "linkage,attribute", "--epsilon", 1, "--scale", "1:5:1", "--plan", "catalogue")


def test_it_writes_rows_and_a_report_and_prints_tables(run, files):
    result, page = files / "out.json", files / "out.html"
    asked = ("attack", files / "r.csv", *QUICK, "--people", files / "people.csv")
    status, printed, said = run(*asked, "--json", result, "--report", page)
    assert status == 0, said
    rows = json.loads(result.read_text())
    assert {row["attack"] for row in rows} == {"linkage", "attribute"}
    assert {row["setting"] for row in rows if row["attack"] == "attribute"} == {
        "kind, all that came", "kind, presence alone",
    }  # fmt: skip
    assert "8 random items with stars" in printed
    assert "do not publish" in printed.lower()
    assert "<h1>Attacks</h1>" in page.read_text()
    assert not result.with_name("out.json.journal").exists()
    assert pl.read_parquet(files / "out.parquet").height == len(rows)


def test_without_a_table_of_people_nothing_is_told_of_them(run, files):
    status, printed, said = run("attack", files / "r.csv", *QUICK)
    assert status == 0, said
    assert "attribute" not in printed


def test_an_unknown_attack_is_refused_before_the_data_are_read(run, files):
    status, _, said = run("attack", files / "absent.csv", "--attack", "linkag")
    assert status != 0
    assert "linkag" in said or "absent.csv" in said
