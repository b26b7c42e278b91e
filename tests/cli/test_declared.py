"""`--catalogue` and `--people` on every verb whose promise covers presence or people."""

import json

import pytest

from tacit.collection.report_file import read_reports
from tacit.models import Fitted
from tacit.readers import synthetic
from tacit.wire.tasks.loading import loads

GAP = (
    "Not covered: the catalogue and the set of people, inferred from the ratings because not "
    "declared."
)


@pytest.fixture
def files(tmp_path):
    """Ratings of 60 items by 40 people, and lists that declare 70 and 45."""
    synthetic(40, 60, 1000).to_polars().write_csv(tmp_path / "r.csv")
    (tmp_path / "items.csv").write_text(
        "item,title\n" + "".join(f"{k},T{k}\n" for k in range(1, 71))
    )
    (tmp_path / "people.csv").write_text("user\n" + "".join(f"{k}\n" for k in range(1, 46)))
    return tmp_path


def lists(files):
    return ["--catalogue", files / "items.csv", "--people", files / "people.csv"]


def data(files):
    return [files / "r.csv", "--scale", "1:5:1"]


def test_perturb(files, run):
    asked = [
        "perturb",
        *data(files),
        "--plan",
        "catalogue",
        "--channel",
        "optimal",
        "--epsilon",
        "1",
    ]
    status, _, err = run(*asked, "-o", files / "a")
    assert status == 0
    assert err.count(GAP) == 2  # of a slot, and of a person
    status, _, err = run(*asked, *lists(files), "-o", files / "b")
    assert status == 0
    assert "Not covered" not in err
    sent = read_reports(files / "b")
    assert (sent.n_users, sent.n_items, sent.guarantee.uncovered) == (45, 70, ())


def test_fit(files, run):
    asked = ["fit", *data(files), "--model", "dp-covariance", "--epsilon", "3"]
    status, _, err = run(*asked, "-o", files / "a")
    assert status == 0
    assert GAP in err
    assert "rows" not in err  # how many ratings a training saw is not covered either
    status, _, err = run(*asked, *lists(files), "-o", files / "b")
    assert status == 0
    assert "Not covered" not in err
    assert len(Fitted.load(files / "b").item_ids) == 70
    status, _, err = run("fit", "--db", files / "none.db", *lists(files), "-o", files / "c")
    assert status == 1
    assert "--catalogue has no effect on reports" in err


def test_compare(files, run):
    asked = ["compare", *data(files), "--plan", "sample:9", "--model", "bias", "--epsilon", "2"]
    status, out, _ = run(*asked, "--json", files / "a.json")
    assert (status, out.count(GAP)) == (0, 1)
    rows = json.loads((files / "a.json").read_text())
    words = {row["uncovered"] for row in rows if row["epsilon"]}
    assert words == {"the catalogue, the set of people"}
    assert {row["uncovered"] for row in rows if not row["epsilon"]} == {None}
    status, out, _ = run(*asked, *lists(files), "--report", files / "a.html")
    assert status == 0
    assert "Not covered" not in out + (files / "a.html").read_text()


def test_crossdomain(files, run):
    frame = synthetic(40, 60, 1200).to_polars()
    for name, side in (("s", frame["item"] <= 30), ("t", frame["item"] > 30)):
        frame.filter(side).write_csv(files / f"{name}.csv")
    asked = ["crossdomain", files / "s.csv", files / "t.csv", "--scale", "1:5:1", "--epsilon", "3"]
    asked += ["--model", "item-average"]
    one = ["--catalogue", files / "items.csv"]
    status, out, _ = run(*asked)
    assert (status, GAP in out) == (0, True)
    status, out, _ = run(*asked, *one, *one, "--people", files / "people.csv")
    assert (status, "Not covered" in out) == (0, False)
    status, _, err = run(*asked, *one)
    assert status == 1
    assert "got 1 catalogues for 2 domains" in err


def test_a_task_made_of_ratings_says_what_its_catalogue_shows(files, run):
    made = ["-o", files / "task.json", "--epsilon", "1", "--provider", "https://films.example"]
    status, _, err = run("task", files / "items.csv", *made)
    assert status == 0
    assert "not covered" not in err
    task = loads((files / "task.json").read_bytes())
    assert (len(task.items), task.titles[0]) == (70, "T1")
    status, _, err = run("task", files / "r.csv", *made)
    assert status == 0
    assert "reveals the set of rated items, and the task lists the catalogue as not covered" in err
    rated = synthetic(40, 60, 1000).to_polars()["item"].n_unique()
    assert len(loads((files / "task.json").read_bytes()).items) == rated
