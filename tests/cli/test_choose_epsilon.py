"""`tacit choose-epsilon`: the table, the sentences, the figure, and what private data cost."""

import pytest

from tacit.cli import main
from tacit.readers import synthetic


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
    assert "Weighing strength 0.5: epsilon" in out
    assert "recommended" in figure.read_text()
    assert "cost" not in err
    status, out, err = run(capsys, data, *few, "--private")
    assert status == 0
    assert "What choosing has cost: Epsilon = 21 per value, trusting curator" in err


def test_made_up_data_have_nothing_to_protect(capsys):
    status, _, err = run(capsys, "--private")
    assert status == 1
    assert "nothing private in made-up data" in err
