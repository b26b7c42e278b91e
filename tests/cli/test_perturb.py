"""`tacit perturb`: reports in a file, the promise on standard error, nothing else."""

import pytest

from tacit.cli import main
from tacit.collection.report_file import read_reports


@pytest.fixture
def data(tmp_path):
    lines = [
        f"{user}\t{item}\t{1 + (user * item) % 5}\t0"
        for user in range(1, 31)
        for item in range(1, 21)
    ]
    file = tmp_path / "u.data"
    file.write_text("\n".join(lines) + "\n")
    return file


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([*arguments])
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out, said.err


def test_reports_are_written_and_promised(data, tmp_path, capsys):
    output = tmp_path / "r.parquet"
    status, out, err = run(
        capsys,
        "perturb",
        str(data),
        "--channel",
        "auto",
        "--epsilon",
        "1",
        "--cap",
        "5",
        "-o",
        str(output),
    )
    assert (status, out) == (0, "")
    assert "150 reports" in err
    assert "Epsilon = 1 per value, trusting nobody" in err
    reports = read_reports(output)
    assert len(reports) == 150
    assert reports.channels[0].epsilon == "1"


def test_a_catalogue_is_written_with_everybody_in_it(data, tmp_path, capsys):
    output = tmp_path / "r.parquet"
    request = ["perturb", str(data), "--channel", "optimal", "--epsilon", "1", "-o", str(output)]
    status, out, err = run(capsys, *request, "--plan", "catalogue", "--cap", "4")
    assert (status, out) == (0, "")
    assert "Epsilon = 2 per slot, trusting nobody" in err
    assert "Epsilon = 8 per user, trusting nobody" in err
    reports = read_reports(output)
    assert (reports.plan, reports.n_users, reports.n_items) == ("catalogue", 30, 20)
    assert reports.guarantee.unit == "slot"
    assert not list(tmp_path.glob("part-*"))
    status, out, _ = run(
        capsys, "fit", str(output), "--model", "item-mean", "-o", str(output) + "m"
    )
    assert (status, out) == (0, "")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"--channel": "identity"}, "identity adds no noise"),
        ({"--channel": "best"}, "got 'best'"),
        ({"--epsilon": "0"}, "Epsilon must be above 0 and at most 16, got 0"),
        ({"--plan": "all"}, "plan must be rated, catalogue"),
        ({"--plan": "sample:5"}, "duchi protects the value only"),
        ({"--engine": "flink"}, "--engine must be local or spark, got 'flink'"),
        ({"--master": "local[2]"}, "--master local[2] requires --engine spark"),
        ({"--cap": "0"}, "cap must be an integer of at least 1, got 0"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_no_file(data, tmp_path, capsys, changes, sentence):
    output = tmp_path / "r.parquet"
    options = {"--channel": "duchi", "--epsilon": "1", "-o": str(output)} | changes
    flat = [word for pair in options.items() for word in pair]
    status, out, err = run(capsys, "perturb", str(data), *flat)
    assert (status, out) == (1, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not output.exists()


def test_a_folder_that_is_not_there(data, tmp_path, capsys):
    absent = str(tmp_path / "absent" / "r.parquet")
    status, _, err = run(
        capsys, "perturb", str(data), "--channel", "duchi", "--epsilon", "1", "-o", absent
    )
    assert status == 1
    assert f"{absent} cannot be written; name a file in an existing folder." in err
