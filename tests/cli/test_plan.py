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
