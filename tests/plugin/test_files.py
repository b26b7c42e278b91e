"""`--plugin`: a file registers members for one command."""

import pytest
from outside_texts import MODEL, PLUGGED

from tacit import plugins


def test_a_file_is_a_plug_in_as_long_as_the_command_runs(run, data, tmp_path):
    file = tmp_path / "attempt.py"
    file.write_text(PLUGGED)
    twice = ("--plugin", file, "--plugin", tmp_path / "." / "attempt.py")
    status, out, _ = run(*twice, "list", "models")
    assert status == 0
    assert "The item means again; of attempt.py (SHA-256 " in out
    assert "attempt.py" not in run("list", "models")[1]
    out = tmp_path / "model"
    status, _, err = run("--plugin", file, "fit", data, "--scale", "1:5:1", "--model", "plain",
                         "-o", out)  # fmt: skip
    assert status == 0
    assert "plain from 900 rows (plug-ins: plain of attempt.py (SHA-256 " in err


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("1 / 0", "loaded (ZeroDivisionError: division by zero); correct it, or leave it out."),
        ("raise SystemExit(0)", "cannot be loaded (SystemExit: 0)"),
        (MODEL, "registers no component; call tacit.plugins.register in the file."),
        (
            PLUGGED.replace("'models'", "'model'"),
            "The kind of plug-in must be one of",
        ),
        (PLUGGED.replace("plain", "bias"), "The model 'bias' of attempt.py (SHA-256 "),
        (PLUGGED.replace("Plain)", "3)"), "cannot be loaded (3 has no attribute 'name')"),
    ],
)
def test_a_file_that_is_no_plug_in_is_refused_before_the_verb(run, tmp_path, source, said):
    file = tmp_path / "attempt.py"
    file.write_text(source)
    status, out, err = run("--plugin", file, "list", "channels")
    assert (status, out) == (1, "")
    assert said in err
    assert not plugins.claims("models")


def test_a_file_that_is_not_there_is_named(run):
    status, _, err = run("--plugin", "nowhere.py", "list", "channels")
    assert (status, err) == (
        1, "Plug-in nowhere.py does not exist; name a file that registers a component.\n"
    )  # fmt: skip
