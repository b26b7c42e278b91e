"""Choosing epsilon, by hand."""

import math
from dataclasses import replace

import pytest

from tacit.errors import RequestError
from tacit.results.choice.report import figure, panel
from tacit.results.choice.tradeoff import MEAN, Tradeoff, strength, tradeoff


@pytest.fixture
def rows(make_row):
    errors = {0.5: 1.05, 1.0: 0.95, 4.0: 0.9}
    return [
        make_row(model=MEAN, channel="identity", rmse=1.1),
        make_row(model="m", channel="identity", rmse=0.85),
        make_row(model="m", where="device", rmse=0.2),
        *(make_row(model="m", epsilon=e, rmse=rmse, n_test=10_000) for e, rmse in errors.items()),
    ]


def test_strength_is_what_an_attacker_lacks():
    assert strength(0) == 1
    assert strength(1) == pytest.approx(1 - math.tanh(0.5))
    assert strength(1e9) == pytest.approx(0)


def test_the_tradeoff_by_hand(rows):
    found = tradeoff(rows, "provider")
    assert found.unit == "value"
    assert found.points == (
        (0.5, pytest.approx(0.8)),
        (1.0, pytest.approx(0.4)),
        (4.0, pytest.approx(0.2)),
    )
    # 1 - P is .245 and .462 at .5 and 1: the curves meet in between, on the log scale.
    part = 0.555 / (0.555 + 0.062)
    assert found.crossing == pytest.approx(0.5 * 2**part, rel=0.01)
    assert found.best(0.5) == 1.0
    assert found.best(1.0) == 0.5
    assert found.best(0.0) == 4.0
    assert found.interval(0.5, 0.1) == (1.0, 1.0)
    assert found.interval(0.5, 0.01) == (1.0, 4.0)
    assert found.interval(0.1, 0.1) is None
    excess, interval = found.nearest((0.1, 0.1))
    assert (excess, interval) == (pytest.approx(0.1), (4.0, 4.0))
    assert found.interval(0.1 + excess + 1e-12, 0.1 - excess) == interval
    assert found.verdicts(0.5, 0.1, 0.1)[-1] == (
        "No epsilon on the grid has A at most 0.1 and P at least 0.1. Epsilon 4 per value is "
        "closest: it exceeds a limit by 0.1."
    )


def test_a_loss_is_between_none_and_all(rows, make_row):
    wild = [make_row(model="m", epsilon=0.1, rmse=3.0), make_row(model="m", epsilon=9.0, rmse=0.1)]
    first, *_, last = tradeoff([*rows, *wild], "provider").points
    assert (first, last) == ((0.1, 1), (9.0, 0))


def test_curves_that_do_not_meet():
    assert Tradeoff(((0.1, 0.01), (0.2, 0.0)), "value").crossing is None


def test_what_cannot_be_compared_is_refused(rows, make_row):
    with pytest.raises(RequestError, match="requires rows with a single unit of epsilon"):
        tradeoff([*rows, make_row(model="m", epsilon=2.0, unit="slot")], "provider")
    with pytest.raises(RequestError, match="the non-private baseline and the mean rating"):
        tradeoff(rows[2:], "provider")
    with pytest.raises(RequestError, match="requires at least two epsilons"):
        tradeoff(rows[:4], "provider")


def test_the_figure_names_its_line_and_its_band_and_has_the_spread(rows, make_row):
    again = [replace(row, seed=1, rmse=row.rmse + 0.02) for row in rows if row.epsilon]
    found = tradeoff([*rows, *again], "provider")
    assert found.spreads == pytest.approx([0.04] * 3)
    assert tradeoff(rows, "provider").spreads == ()
    drawn = panel(found, (0.6, 0.1))
    assert drawn.band == (1.0, 1.0, "recommended: 1")
    assert drawn.rule == (found.crossing, f"crossing: {found.crossing:.2g}")
    names = {text.get_text() for text in figure(found, (0.6, 0.1)).legends[0].get_texts()}
    assert {drawn.band[2], drawn.rule[1]} <= names
    assert panel(found, (0.0, 0.1)).band is None
