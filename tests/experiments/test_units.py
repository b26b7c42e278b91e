"""An epsilon is printed with its unit: in words, on axes, and in what is read of a figure."""

import pytest

from tacit.reporting.table import epsilon_per, units
from tacit.results.comparison.chart import Chart


def test_what_protects_nothing_has_no_unit_and_different_ones_are_all_named(make_row):
    free = make_row(channel="identity")
    rows = [make_row(unit="slot"), free, make_row(unit="user"), make_row(unit="slot")]
    assert units(rows) == "slot or user"
    assert epsilon_per(rows) == "epsilon per slot or user"
    assert (units([free]), epsilon_per([free])) == ("", "epsilon")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", ["value", "slot", "user"])
def test_a_figure_names_the_unit_in_its_words_and_on_its_axes(make_row, unit):
    rows = [make_row(unit=unit, epsilon=epsilon) for epsilon in (0.5, 1.0)]
    figure = Chart(rows, "rmse").report_figure()
    named = f"epsilon per {unit}"
    assert f"against {named} on a log scale" in figure.caption
    assert [panel.live.x for panel in figure.panels] == [named]
    assert all(f">{named}</text>" in panel.picture for panel in figure.panels)
    assert f"against {named}." in Chart(rows, "rmse").describe()
