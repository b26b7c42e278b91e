"""The status of `tacit simulate` when the collector stores nothing."""

from collections import Counter

import pytest

from tacit.planning.fleet import Fleet, FleetOutcome

DATA = "user,item,rating\na,1,5\n"


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({"waiting": 3}, 1),
        ({"given up": 3}, 1),
        ({"stored": 1, "waiting": 3, "given up": 2}, 0),
        ({}, 0),
        ({"refused": 1}, 0),
    ],
)
def test_reports_of_which_none_is_stored_are_a_failure(run, tmp_path, monkeypatch, counts, status):
    (tmp_path / "data.csv").write_text(DATA)
    outcome = FleetOutcome(Counter({"devices": 1, "ratings": 3, **counts}))
    monkeypatch.setattr(Fleet, "report", lambda *arguments: outcome)
    given = ("simulate", tmp_path / "data.csv", "--url", "http://127.0.0.1:9", "--scale", "1:5:1")
    ended, printed, notice = run(*given)
    assert (ended, "1 devices" in printed) == (status, True)
    assert ("No report was stored" in notice) == (status == 1)


@pytest.mark.parametrize("devices", [0, -5])
def test_fewer_than_one_device_is_refused(run, tmp_path, devices):
    (tmp_path / "data.csv").write_text(DATA)
    given = ("simulate", tmp_path / "data.csv", "--url", "http://127.0.0.1:9", "--scale", "1:5:1")
    status, _, notice = run(*given, "--devices", devices)
    assert (status, "--devices" in notice) == (2, True)
