"""What the pages take from others is what was published, to the byte, and with its licence."""

from hashlib import sha256
from importlib.resources import files

import pytest

from tacit.reporting.page import inlined

PUBLISHED = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
FOLDER = files("tacit.reporting").joinpath("uplot")


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_file_of_uplot_is_that_of_version_1_6_32(name):
    assert sha256(FOLDER.joinpath(name).read_bytes()).hexdigest() == PUBLISHED[name]


def test_every_file_of_others_is_pinned_and_ends_no_script():
    assert {each.name for each in FOLDER.iterdir()} == PUBLISHED.keys()
    for name in ("uplot/uPlot.iife.min.js", "tables.js", "pen.js", "options.js", "chart.js"):
        assert "</script" not in inlined(name)
        assert "<!--" not in inlined(name)
    assert "--" not in inlined("uplot/LICENSE")
