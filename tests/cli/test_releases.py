"""`fit --releases` makes one release a run, and refuses what a series does not have."""

import pytest

from tacit.models import load

TERMS = ("--model", "dp-popularity", "--epsilon", "1", "--releases", "2")


@pytest.fixture
def clicks(tmp_path):
    """Ratings of two weeks, the second with a new item."""
    paths = []
    for week, items in enumerate(("a", "ab")):
        path = tmp_path / f"clicks-{week}.csv"
        rows = [f"{user},{item}" for user in range(30) for item in items]
        path.write_text("\n".join(["user,item", *rows]) + "\n")
        paths.append(path)
    return paths


def test_each_run_is_a_release_of_the_same_epsilon(clicks, tmp_path, run):
    model, state = tmp_path / "model", tmp_path / "weekly"
    for week, path in enumerate(clicks, start=1):
        status, _, err = run("fit", path, "--implicit", *TERMS, "--state", state, "-o", model)
        assert status == 0
        assert "Epsilon = 1 per user, delta = 1e-06, trusting the curator" in err
        assert f"releasing noisy totals in {week} of 2 releases" in err
        assert load(model).guarantee.epsilon == "1"
    assert load(model).items == ("a", "b")
    before = model.read_bytes()
    status, _, err = run("fit", clicks[1], "--implicit", *TERMS, "--state", state, "-o", model)
    assert (status, "All 2 releases" in err, model.read_bytes() == before) == (1, True, True)


def test_item_means_are_saved_with_their_guarantee(tmp_path, run):
    data, model = tmp_path / "stars.csv", tmp_path / "model"
    rows = [f"{user},{item},{1 + (user + item) % 5}" for user in range(20) for item in range(5)]
    data.write_text("\n".join(["user,item,rating", *rows]) + "\n")
    terms = (
        "--model",
        "item-mean",
        "--epsilon",
        "3",
        "--releases",
        "12",
        "--state",
        tmp_path / "s",
    )
    assert run("fit", data, "--scale", "1:5:1", *terms, "-o", model)[0] == 0
    guarantee = load(model).guarantee
    assert (guarantee.epsilon, guarantee.unit, guarantee.trust) == ("3", "user", "curator")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plan", "rated"], "--plan is not an option of --releases"),
        (["--warm", "model"], "--warm is not an option of --releases"),
        ([], "--releases requires --model, --epsilon and --state"),
        (["--state", "s", "--model", "ease"], "must be one of dp-popularity, dp-ease, item-mean"),
        (["--state", "s", "--releases", "1001"], "releases must be from 1 to 1,000, got 1,001"),
    ],
)
def test_other_options_are_refused(clicks, tmp_path, run, options, message):
    command = ["fit", clicks[0], *TERMS, *options, "-o", tmp_path / "model"]
    status, _, err = run(*command)
    assert status == 1
    assert message in err
    assert not (tmp_path / "model").exists()
