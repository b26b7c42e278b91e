"""`--set NAME=VALUE`: settings of models and trainers on the command line."""

import tomllib

import pytest

from tacit import load, synthetic
from tacit.errors import RequestError
from tacit.learners.learner import learner, names
from tacit.learners.settings import parsed_settings


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "made.csv"
    synthetic(40, 50, 900).to_polars().write_csv(file)
    return str(file)


def settable():
    """Every setting of every model and trainer that has a text, with its default as text."""
    for name in names():
        each = learner(name)
        for key, value in vars(each.settings).items():
            if key not in ("engine", "state", "item_table"):
                yield name, key, str(value).lower() if value in (None, True, False) else str(value)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "key", "text"), list(settable()))
def test_every_setting_of_every_model_and_trainer_is_read_from_text(name, key, text):
    assert parsed_settings([learner(name)], [f"{key}={text}"]) == {
        key: vars(learner(name).settings)[key]
    }


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("completion", "rho=x", "rho of completion must be a number or none, got 'x'"),
        ("completion", "centre=up", "centre of completion must be zero or scale, got 'up'"),
        ("mf", "sweeps=1.5", "sweeps of mf must be an integer, got '1.5'"),
        ("mf", "biases=maybe", "biases of mf must be true or false, got 'maybe'"),
        ("mf", "engine=spark", "engine of mf must be set in Python, got 'spark'"),
        ("mf", "rho=3", "rho is not a setting of mf; leave it out, or choose from completion"),
        ("mf", "nothing=3", "or choose from the settings factors, ridge, sweeps, biases, centred"),
        ("mf", "ridge", "--set must be NAME=VALUE, as in --set ridge=5, got 'ridge'"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(name, text, sentence):
    with pytest.raises(RequestError, match=sentence.replace("(", r"\(")):
        parsed_settings([learner(name)], [text])


def test_a_fit_has_the_settings(data, tmp_path, run):
    """No biases: predictions of the printed form of matrix completion."""
    out = str(tmp_path / "model")
    few = ["--scale", "1:5:1", "--model", "completion", "-o", out]
    status, _, err = run("fit", data, *few, "--set", "biases=false", "--set", "rank=2")
    assert status == 0, err
    assert abs(load(out).items[0, :, 0]).max() < 1e-6
    status, _, err = run("fit", data, *few, "--set", "rho=many")
    assert (status, "rho of completion must be a number" in err) == (1, True)


def test_a_comparison_repeats_its_settings(data, tmp_path, run):
    first, second = tmp_path / "out.json", tmp_path / "again.json"
    few = ["--scale", "1:5:1", "--model", "mf", "--epsilon", "2", "--json", str(first)]
    status, _, err = run("compare", data, *few, "--set", "biases=false", "--set", "ridge=5")
    assert status == 0, err
    known = tomllib.loads(first.with_suffix(".toml").read_text())["compare"]
    assert known["set"] == ["biases=false", "ridge=5.0"]
    status, _, err = run("compare", str(first.with_suffix(".toml")), "--json", str(second))
    assert status == 0, err
    again = tomllib.loads(second.with_suffix(".toml").read_text())["compare"]
    assert again["set"] == known["set"]
    toml = str(first.with_suffix(".toml"))
    status, _, err = run("compare", toml, "--set", "ridge=1")
    assert (status, "so --set cannot be combined with it" in err) == (1, True)
    status, _, err = run("compare", toml, "--factors", "0")
    assert (status, "so --factors cannot be combined with it" in err) == (1, True)
