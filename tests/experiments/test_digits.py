"""A mean has the digits that its spread leaves it."""

import pytest

from tacit.reporting.table import decimals
from tacit.results.comparison.report import findings
from tacit.results.comparison.tables import accuracy, best


@pytest.mark.parametrize(
    ("spread", "digits"),
    [(0.3, 1), (0.15, 2), (0.02, 2), (0.019, 3), (0.002, 3), (0.0004, 4), (1e-9, 4), (50, 1)],
)
def test_the_last_digit_is_the_first_of_the_spread(spread, digits):
    assert decimals([[1 - spread, 1 + spread]]) == digits


def test_of_several_means_the_median_spread_counts_and_one_split_has_none():
    wide, narrow, single = [0.0, 2.0], [0.999, 1.001], [0.5]
    assert decimals([wide, narrow, narrow]) == decimals([narrow])
    assert decimals([single, single]) == decimals([[1.0, 1.0]]) == decimals([]) == 3


def test_a_comparison_says_a_mean_alike_wherever_it_is_said(make_row):
    rows = [
        make_row(epsilon=epsilon, seed=seed, rmse=0.91 + epsilon / 64 + 0.08 * seed)
        for epsilon in (0.5, 1.0)
        for seed in (0, 1)
    ]
    assert accuracy(rows, "rmse", "").lines[0][3:] == ("0.96", "0.97", "–")
    assert [line[1] for line in best(rows).lines] == ["0.96", "0.97"]
    assert "the RMSE at the provider is <strong>0.97</strong>" in findings(rows)[0]
