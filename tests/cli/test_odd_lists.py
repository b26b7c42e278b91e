"""Odd tables of who did what: each verb gives a result or a sentence, never a traceback."""

import json
import math

import numpy as np
import pytest

from tacit.results.comparison.row import LISTS

HAD = np.argwhere(np.random.default_rng(0).random((30, 25)) < 0.35).tolist()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes rows as a table; commands run beside it."""
    monkeypatch.chdir(tmp_path)

    def written(rows, columns="user,item"):
        path = tmp_path / "odd.csv"
        path.write_text("\n".join([columns, *(",".join(map(str, row)) for row in rows)]) + "\n")
        return path

    return written


def compared(run, path, *arguments):
    """The rows of a comparison, and what was said."""
    status, _, said = run("compare", path, *arguments, "--epsilon", 2, "--json", "rows.json")
    assert status == 0, said
    return json.loads(path.with_name("rows.json").read_text()), said


def refused(run, *arguments):
    """The sentence."""
    status, _, said = run(*arguments)
    assert status == 1, said
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("verb", [("compare", "--epsilon", "2"), ("fit", "-o", "model")])
def test_a_third_column_of_text_is_named(run, write, verb):
    path = write([(*row, "hello") for row in HAD], "user,item,note")
    said = refused(run, verb[0], path, "--model", "ease", *verb[1:])
    assert "column 'rating' must be among 'user, item, note'" in said
    assert "pass scale='there' (--implicit)" in said
    said = refused(run, verb[0], path, "--scale", "there", "--model", "ease", *verb[1:])
    assert "line 2: rating 'hello'" in said


def test_what_somebody_did_twice_counts_once(run, write):
    twice, said = compared(run, write(HAD + HAD[:40]), "--model", "ease,graph-filter")
    assert "40 repeated (user, item) rows were dropped" in said
    once, _ = compared(run, write(HAD), "--model", "ease,graph-filter")
    assert [row["n_train"] + row["n_test"] for row in twice] == [len(HAD)] * len(once)


@pytest.mark.parametrize(
    ("name", "epsilon", "result"),
    [
        ("ease", (), False),
        ("ease", ("--epsilon", "1", "--plan", "catalogue"), False),
        ("graph-filter", (), True),
        ("graph-filter", ("--epsilon", "1", "--plan", "catalogue"), True),
        ("popularity", ("--epsilon", "1", "--plan", "sample:5"), True),
    ],
)
def test_one_person(run, write, name, epsilon, result):
    path = write([(1, item) for item in range(20)])
    if not result:
        said = refused(run, "fit", path, "--model", name, *epsilon, "-o", "model")
        assert "1 user is" in said
        assert "graph-filter" in said
        return
    assert run("fit", path, "--model", name, *epsilon, "-o", "model")[0] == 0
    write([(0,), (7,)], "item")
    status, printed, said = run("recommend", "model", "--user", "me", "--profile", path, "-n", 3)
    assert (status, len(printed.splitlines())) == (0, 3), said


def test_one_item(run, write):
    path = write([(person, 1) for person in range(20)])
    rows, _ = compared(run, path, "--model", "ease,graph-filter")
    assert {(row["ndcg_at_20"], row["cold_users"]) for row in rows} == {(None, rows[0]["n_test"])}
    assert run("fit", path, "--model", "graph-filter", "-o", "model")[0] == 0
    write([(1,)], "item")
    status, printed, _ = run("recommend", "model", "--user", "me", "--profile", path)
    assert (status, printed) == (0, "")


def test_one_row_of_one_item(run, write):
    said = refused(run, "compare", write([(1, 1)]), "--model", "popularity", "--epsilon", 2)
    assert "neither training nor test data may be empty" in said


def test_somebody_with_everything_has_nothing_left_to_be_shown(run, write):
    everything = [("all", item) for item in range(25)]
    path = write(HAD + everything)
    rows, _ = compared(run, path, "--model", "ease,graph-filter")
    assert all(0 < row["ndcg_at_20"] <= 1 for row in rows)
    given = ("--model", "ease", "--epsilon", "1", "--plan", "catalogue", "-o", "model")
    assert run("fit", path, *given)[0] == 0
    write([(item,) for _, item in everything], "item")
    status, printed, _ = run("recommend", "model", "--user", "all", "--profile", path)
    assert (status, printed) == (0, "")


def test_users_without_a_training_row_are_left_out_of_every_row_and_counted(run, write):
    """One of 31 users has test rows alone: every figure of lists is that of the others."""
    kept = [(*row, int(k % 9 == 0)) for k, row in enumerate(HAD)]
    given = ("--scale", "there", "--model", "ease,graph-filter", "--split", "column:test")
    figures = []
    for cold in ([], [(77, item, 1) for item in (3, 9)]):
        rows, _ = compared(run, write([*kept, *cold], "user,item,test"), *given)
        assert {row.get("cold_users") for row in rows} == {1 if cold else None}
        free = [row for row in rows if row["channel"] == "identity"]
        assert len([row for row in free if row["model"] == "ease"]) == 2
        # The ridge of `ease` is chosen on held-out users, who are others with 31 users.
        same = [row for row in free if row["model"] not in ("random", "ease")]
        figures.append([[row[key] for key in LISTS] for row in same])
    # A swap of two items with nearly equal scores moves a metric by .003. A further user without a
    # hit reduces it by a thirtieth.
    for with_cold, without in zip(*figures, strict=True):
        assert with_cold == pytest.approx(without, abs=0.006)
    assert len(figures[0]) == 4
    status, printed, _ = run("compare", "odd.csv", *given, "--epsilon", 2)
    left_out = "Top-N metrics exclude 1 user with a test rating"
    assert (status, left_out in printed) == (0, True)


def test_where_everybody_is_in_one_part_there_is_nothing_to_compare(run, write):
    given = ("--scale", "there", "--model", "ease,graph-filter", "--split", "column:test")
    everybody = write([(*row, 1) for row in HAD], "user,item,test")
    said = refused(run, "compare", everybody, *given, "--epsilon", 2)
    assert f"hold out {len(HAD)} of {len(HAD)} ratings" in said


@pytest.mark.parametrize("verb", [("compare", "--epsilon", "2"), ("fit", "-o", "model")])
@pytest.mark.parametrize("name", ["mf", "channel-mf", "pg-mf"])
def test_a_model_of_stars_alone_is_refused(run, write, verb, name):
    epsilon = ("--epsilon", "2") if (verb[0], name) == ("fit", "pg-mf") else ()
    said = refused(run, verb[0], write(HAD), "--model", name, *verb[1:], *epsilon)
    assert "got implicit feedback" in said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("plan", ["rated", "catalogue"])
def test_a_model_of_lists_reads_stars_as_what_was_rated(run, write, plan):
    path = write([(*row, k * 7 % 5 + 1) for k, row in enumerate(HAD)], "user,item,rating")
    given = ("--scale", "1:5:1", "--plan", plan)
    rows, _ = compared(run, path, *given, "--model", "ease,graph-filter,popularity")
    assert all(0 < row["ndcg_at_20"] < 1 for row in rows)
    assert all(row["rmse"] is None or math.isnan(row["rmse"]) for row in rows)
    fitted = ("fit", path, *given, "--epsilon", "2", "--model", "ease", "-o", "model")
    assert run(*fitted)[0] == 0
    write([(0, 5), (3, 1)], "item,rating")
    status, printed, said = run("recommend", "model", "--user", "me", "--profile", path, "-n", 4)
    assert (status, len(printed.splitlines())) == (0, 4), said
