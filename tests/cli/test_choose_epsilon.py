"""`tacit choose-epsilon`: the table, the sentences, the figure, and what private data cost."""

from html import escape

import numpy as np
import pytest

from tacit.cli import main
from tacit.learners.learner import learner
from tacit.metrics.accuracy import rmse
from tacit.readers import synthetic
from tacit.training import STRICT_TRAININGS


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["choose-epsilon", *arguments])
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out, said.err


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "made.csv"
    synthetic(60, 120, 2000).to_polars().write_csv(file)
    return str(file)


def test_an_interval_is_recommended_and_drawn(data, tmp_path, capsys):
    figure = tmp_path / "choice.svg"
    few = ["--model", "bias", "--epsilon", "0.5,2,8", "--scale", "1:5:1", "--where", "provider"]
    status, out, err = run(capsys, data, *few, "--figure", str(figure), "--least-strength", "0")
    assert status == 0
    assert "epsilon per value" in out
    assert "Largest 0.5 P + 0.5 (1 - A): epsilon" in out
    assert "recommended" in figure.read_text()
    assert "Privacy cost" not in err
    assert f"The true ratings in {data} are evaluated without any privacy." in err
    status, out, err = run(capsys, data, *few, "--private")
    assert status == 0
    assert "Privacy cost of choosing epsilon: Epsilon = 21 per value, trusting the curator" in err
    assert "without any privacy" not in err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("private", [False, True])
def test_the_report_has_the_verdicts_and_keeps_what_no_price_covers(
    data, tmp_path, capsys, private
):
    page = tmp_path / "choice.html"
    few = ["--model", "bias", "--epsilon", "0.5,8", "--scale", "1:5:1", "--where", "provider"]
    asked = [*few, "--report", str(page), *(["--private"] if private else [])]
    status, out, _ = run(capsys, data, *asked)
    assert status == 0
    shown = page.read_text()
    for verdict in out.strip().splitlines()[-3:]:
        assert escape(verdict) in shown
    assert shown.count("<svg") == 1
    assert ("Checksum" in shown) is not private
    assert "Reproduce" in shown


def test_private_errors_are_seen_from_the_provider(data, capsys):
    few = [data, "--private", "--epsilon", "1,4"]
    assert run(capsys, *few, "--model", "bias", "--scale", "1:5:1")[0] == 0
    device = run(capsys, *few, "--model", "bias", "--scale", "1:5:1", "--where", "device")
    curator = run(capsys, *few, "--model", "dpsaobj", "--scale", "1:5:1")
    for status, out, err in (device, curator):
        assert (status, out) == (1, "")
        assert "use true training ratings" in err
    status, out, err = run(capsys, *few, "--model", "bias")
    assert (status, out) == (1, "")
    assert "--private requires --scale, as in --scale 1:5:1" in err


def test_made_up_data_have_nothing_to_protect(capsys):
    status, _, err = run(capsys, "--private")
    assert status == 1
    assert "--private requires DATA" in err


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name == "pg-mf" else ())
        for name in STRICT_TRAININGS
        if learner(name).predicts
    ],
)
def test_every_trainer_of_ratings_is_compared_with_itself_without_noise(name, data, capsys):
    """The table has the requested epsilons alone, in the trainer's unit."""
    few = ["--model", name, "--epsilon", "1,8", "--scale", "1:5:1"]
    status, out, err = run(capsys, data, *few)
    assert status == 0, err
    assert f"{name} without privacy is approximated by {name} at epsilon 999." in err
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines if len(line) == 4] == ["1", "8"]
    assert f"epsilon per {learner(name).settings.unit}" in out


def test_a_trainer_s_epsilons_are_below_the_one_that_stands_for_no_privacy(data, capsys):
    few = ["--model", "dp-bias", "--epsilon", "1,999", "--scale", "1:5:1"]
    status, _, err = run(capsys, data, *few)
    assert status == 1
    assert "Epsilons of a trainer must be below 999, which stands for no privacy, got 999" in err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["dp-bias", "dpss", "dpsaobj++", "dpsaout", "dp-covariance"])
def test_at_999_nats_the_noise_of_a_trainer_is_negligible(name):
    """Two fits differ by at most .003 of the gain over the mean rating; at 8 nats by up to .1."""
    own = synthetic(300, 100, 9000)
    held = np.random.default_rng(0).random(len(own)) < 0.2
    train, test = own.where(~held), own.where(held)

    def error(epsilon):
        fitted = learner(name).fit(train, epsilon=epsilon, delta="1e-6", rng=0)
        return rmse(test.values, fitted.predict_codes(test.users, test.items))

    first, second = error("999"), error("999")
    gain = rmse(test.values, np.full(len(test), train.values.mean())) - first
    assert abs(first - second) < 0.02 * gain
