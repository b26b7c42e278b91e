"""Main results of a report, and how to reproduce it."""

import re
from math import nan

import pytest

from tacit import synthetic
from tacit.reporting.page import Provenance, render
from tacit.results.comparison.chart import Chart
from tacit.results.comparison.report import findings, guess


def html(chart: Chart) -> str:
    return render("figure.html", figure=chart.report_figure())


def test_accuracy_of_the_epsilon_nearest_to_1_precedes_the_guarantee(make_row):
    rows = [
        make_row(epsilon=1.0, rmse=0.95, ndcg_at_20=0.21, where="device"),
        make_row(epsilon=8.0, rmse=0.88, ndcg_at_20=0.3, where="device"),
        make_row(channel="identity", rmse=0.87, ndcg_at_20=0.31, where="device"),
        make_row(model="popularity", epsilon=1.0, rmse=nan, ndcg_at_20=0.4, where="device"),
        make_row(model="popularity", channel="identity", rmse=nan, ndcg_at_20=0.45, where="device"),
    ]
    lead, lists, stake = findings(rows)
    assert "At epsilon = 1 per value, the RMSE on the device is <strong>0.950</strong>" in lead
    assert "(0.870 without privacy)" in lead
    assert "NDCG@20 on the device is <strong>0.210</strong> (0.310 without" in lists
    assert "0.450 popularity)" in lists
    assert "distinguishes two values correctly at most 73.2 % of the time" in stake


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"unit": "slot", "user_epsilon": 40.0}, "have epsilon = 40 per user."),
        ({"unit": "user", "epsilon": 2.0, "delta": 1e-6}, "have epsilon = 2 per user."),
        ({"unit": "value"}, "distinguishes two values correctly at most 73.2 %"),
    ],
)
def test_the_guarantee_per_user_is_stated_if_it_is_known(make_row, row, said):
    assert said in findings([make_row(**row)])[-1]


def test_a_claim_that_fails_is_not_a_finding(make_row):
    (said,) = findings([make_row(claim_valid=False)])
    assert "No valid guarantee was compared" in said


def test_a_guess_is_rounded_up():
    assert guess(1.0) == "73.2 %"  # 73.106
    assert guess(0.0) == "50 %"


def test_the_mean_rating_is_a_line_that_does_not_stretch_the_axis(make_row):
    rows = [make_row(epsilon=e, rmse=0.9 + e / 100, rmse_of_mean=9.0) for e in (1.0, 2.0)]
    chart = Chart(rows, "rmse")
    assert chart.baselines == {"mean rating": 9.0}
    assert chart.limits is not None
    assert chart.limits[1] < 1
    assert "mean rating, 9.000" in html(chart)
    assert "Mean rating: 9.000." in Chart(rows, "rmse").describe()
    assert Chart(rows, "ndcg_at_20").baselines == {}


def test_a_single_split_has_no_standard_deviation(make_row):
    one = [make_row(epsilon=e) for e in (1.0, 2.0)]
    assert "One split, so the standard deviation cannot be estimated." in html(Chart(one, "rmse"))
    two = [*one, *(make_row(epsilon=e, seed=1) for e in (1.0, 2.0))]
    assert "Error bars show one standard deviation over 2 splits." in html(Chart(two, "rmse"))


def test_a_page_says_what_was_run_on_what():
    ratings = synthetic(40, 60, 900)
    said = render("run.html", run=Provenance.of(ratings, "tacit <b> 'a b'", {"1": "optimal"}))
    assert "tacit &lt;b&gt; &#39;a b&#39;" in said
    assert "synthetic: 900 ratings by 40 users of 60 items" in said
    assert ratings.fingerprint in said
    assert "optimal at 1" in said
    assert re.search(r"Tacit \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d", said)


def test_protected_ratings_get_no_checksum_and_what_is_empty_no_line():
    ratings = synthetic(40, 60, 900)
    said = render("run.html", run=Provenance.of(ratings, "tacit", protected=True))
    assert ratings.fingerprint not in said
    assert "Checksum" not in said
    assert "Channel auto" not in said
