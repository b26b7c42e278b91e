"""Options without an effect beside others: refused, before anything is read or written."""

import pytest

from tacit.cli import options
from tacit.errors import RequestError


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("recommend m --all -o a.csv --profile p.csv", "--profile has no effect with --all"),
        ("recommend m --all -o a.csv --source r.csv", "--source has no effect with --all"),
        (
            "compare r.csv --person-epsilon 4 --epsilon 99",
            "--epsilon has no effect with --person-epsilon",
        ),
        ("channel show auto --epsilon 1 --symbols 64", "--symbols has no effect on auto"),
        ("crossdomain a.csv b.csv --titles t.csv", "--titles has no effect without --user"),
    ],
)
def test_an_option_without_an_effect_is_refused(run, tmp_path, monkeypatch, command, sentence):
    monkeypatch.chdir(tmp_path)
    status, printed, notice = run(*command.split())
    assert (status, printed, list(tmp_path.iterdir())) == (1, "", [])
    assert notice.startswith(sentence)


def test_the_run_file_of_epsilons_per_user_is_repeated(run, tmp_path, ratings):
    """It contains both epsilons, of which nobody typed that per value."""
    data, rows = tmp_path / "data.csv", tmp_path / "a.json"
    ratings.to_polars().write_csv(data)
    terms = ("--scale", "1:5:1", "--model", "bias", "--person-epsilon", 4, "--no-lists")
    assert run("compare", data, *terms, "--json", rows)[0] == 0
    assert run("compare", tmp_path / "a.toml", "--json", tmp_path / "b.json")[0] == 0


def test_a_flag_that_is_not_set_has_no_value():
    options.refuse({"--x": False, "--y": None, "--z": []}, "here")
    for value in (True, 0, ""):
        with pytest.raises(RequestError, match="--x has no effect here"):
            options.refuse({"--x": value}, "here")
