"""`tacit plan`: what it prints, and what it refuses before anything is simulated."""

import json

import pytest

from tacit.planning.plan import Deployment, PlanRow

ASKED = {"--people": "300", "--items": "40", "--ratings-each": "8", "--person-epsilon": "4"}


def given(**changed):
    named = ASKED | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    return [part for pair in named.items() for part in pair]


ROW = PlanRow(
    way="dpals",
    trust="curator",
    epsilon=4.0,
    delta=1e-6,
    unit="user",
    asked="all ratings, by the curator",
    rmse=0.9031,
    lowest=0.901,
    highest=0.906,
    simulated="extrapolated",
    simulated_people=33_333,
    download_bytes=74_563,
    upload_bytes=452,
)


def test_it_prints_every_way_and_writes_its_rows(run, tmp_path, monkeypatch):
    monkeypatch.setattr(Deployment, "rows", lambda asked, seed, progress: [ROW])
    status, printed, said = run("plan", *given(), "--json", tmp_path / "plan.json")
    assert status == 0, said
    assert json.loads((tmp_path / "plan.json").read_text()) == [ROW.to_dict()]
    (line,) = (each for each in printed.splitlines() if each.startswith("curator"))
    told = ["dpals", "0.903", "0.901 to 0.906", "74,563", "452", "extrapolated, 33,333 users"]
    assert all(each in line for each in told)
    assert "300 users, 40 items, 8 ratings per user; epsilon 4 per user, delta 1e-06" in printed
    assert "The plan rated is excluded" in printed


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"people": "many"}, "--people must be an integer of at least 1, as in 1e6, got many."),
        ({"items": "1.5"}, "--items must be an integer of at least 1"),
        ({"ratings_each": "30"}, "ratings_each must be from 2 to half of the 40 items, got 30"),
        ({"person_epsilon": "-1"}, "epsilon must be a positive decimal such as 0.5, got '-1'."),
        ({"delta": "0"}, "delta must be between 0 and 1 for Gaussian noise, such as 1e-6, got "),
        ({"scale": "1:5"}, "1:5"),
    ],
)
def test_what_cannot_be_planned_is_refused(run, changed, words):
    status, _, said = run("plan", *given(**changed))
    assert status == 1
    assert words in said


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"plan": "sample:3"}, "--plan must be shuffled:M, such as shuffled:100, got 'sample:3'."),
        ({"plan": "shuffled:0"}, "an M of at least 1"),
        ({"plan": "shuffled:3", "scale": "there"}, "scale must have several levels"),
        ({"plan": "shuffled:3", "delta": "0.001"}, "delta must be at most"),
    ],
)
def test_what_no_shuffler_can_mix_is_refused(run, changed, words):
    status, _, said = run("plan", *given(**changed))
    assert status == 1
    assert words in said


def test_star_ratings_of_shuffled_messages_are_predicted(run, tmp_path):
    asked = given(
        people="600", items="80", person_epsilon="32", plan="shuffled:3", scale="1:5:1",
        json=tmp_path / "out.json",
    )  # fmt: skip
    status, printed, said = run("plan", *map(str, asked))
    assert status == 0, said
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [row["way"] for row in rows] == [
        "shuffled-covariance", "shuffled-item-mean", "item-mean", "mf",
    ]  # fmt: skip
    assert "600 users, 80 items, 8 ratings per user; shuffled:3, epsilon 32 per user" in printed
    assert all(f"{row['rmse']:.3f}" in printed for row in rows)


def test_shuffled_lists_are_predicted(run, tmp_path):
    """Of few users at a large epsilon; the rows are written too."""
    asked = given(
        people="600", items="80", person_epsilon="32", plan="shuffled:3", json=tmp_path / "out.json"
    )
    status, printed, said = run("plan", *map(str, asked))
    assert status == 0, said
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [row["way"] for row in rows] == [
        "shuffled-ease", "shuffled-popularity", "popularity", "ease",
    ]  # fmt: skip
    assert (
        "600 users, 80 items, 8 interactions per user; shuffled:3, epsilon 32 per user" in printed
    )
    assert f"{rows[0]['empty_epsilon']:g} against an empty profile, delta 2.3e-05." in printed
    assert all(f"{row['ndcg_at_20']:.3f}" in printed for row in rows)
