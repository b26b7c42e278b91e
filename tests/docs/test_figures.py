"""Figures that a script draws are those of the script."""

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


@pytest.mark.parametrize("script", sorted(FIGURES.glob("*.py")), ids=lambda path: path.stem)
def test_a_figure_is_what_its_script_draws(script):
    drawn = runpy.run_path(str(script))["drawing"]()
    assert ElementTree.fromstring(drawn).find("{*}desc") is not None
    figure = script.with_name(script.stem.replace("_", "-") + ".svg")
    assert figure.read_text(encoding="utf-8") == drawn
