"""`--person-epsilon` takes a training from outside whose promise is one to a whole person."""

import json

import pytest

# One that draws what it declares, so that the figure on the axis is not made up.
OWN = """
from dataclasses import replace
from tacit.plugins import register
from tacit.training import training

class Own:
    '''The covariance of devices, under another name.'''
    name, where, unit = "own", ("device",), "user"
    def fit(self, ratings, *, epsilon, delta="0", rng=0, advance=lambda done: None):
        fitted = training("dp-covariance").fit(ratings, epsilon=epsilon, delta=delta, rng=rng)
        return replace(fitted, model=self.name)

register("trainings", "own", Own)
"""
ASKED = ("--scale", "1:5:1", "--model", "own,dp-covariance", "--person-epsilon", "3,300")


@pytest.fixture
def compared(run, data, tmp_path):
    """Runs the axis with a training of that text."""

    def made(text):
        file = tmp_path / "own.py"
        file.write_text(text)
        return run("--plugin", file, "compare", data, *ASKED, "--json", tmp_path / "rows.json")

    return made


def test_it_stands_on_the_axis_at_what_was_asked(compared, tmp_path):
    status, printed, said = compared(OWN)
    assert status == 0, said
    assert (
        printed.count("curator per user  own ") == 2
    )  # in the table of RMSE, and in that of lists
    rows = [
        row for row in json.loads((tmp_path / "rows.json").read_text()) if row["model"] == "own"
    ]
    assert [(row["epsilon"], row["unit"], row["delta"]) for row in rows] == [
        (3, "user", 1e-6),
        (300, "user", 1e-6),
    ]
    assert all(row["plugins"].startswith("own of own.py (SHA-256 ") for row in rows)
    assert "own of own.py" in printed


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (', unit = "own", ("device",), "user"', ' = "own", ("device",)',
         "own does not declare the unit of its epsilon; set unit = 'user' if"),
        ('"user"', '"value"', "The guarantee of own is per value"),
        ("dp-covariance", "dp-bias",
         "own declares the unit user but guarantees its epsilon per value; correct its unit"),
    ],
)  # fmt: skip
def test_what_bounds_no_person_is_refused(compared, old, new, says):
    assert old in OWN
    status, printed, said = compared(OWN.replace(old, new))
    assert status == 1
    assert says in said
    assert printed == ""
