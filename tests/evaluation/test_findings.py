"""What a report says first, and what was run."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tacit import synthetic
from tacit.evaluation.attacks.beside import LINKED
from tacit.evaluation.comparison.chart import Chart, describe
from tacit.evaluation.findings import findings, guess
from tacit.evaluation.grid import fingerprint
from tacit.evaluation.html.drawing import chart_figure
from tacit.evaluation.html.page import render
from tacit.evaluation.html.provenance import Provenance

SETTING, FIGURE = LINKED


def html(chart: Chart) -> str:
    return render("figure.html", figure=chart_figure(chart))


def attack(channel: str, epsilon: float | None, value: float) -> Any:
    told = {"channel": channel, "epsilon": epsilon, "value": value, "baseline": 0.002}
    return cast(Any, SimpleNamespace(setting=SETTING, figure=FIGURE, plan="rated", **told))


def test_the_epsilon_nearest_to_1_is_told_with_lists_attackers_and_stakes(make_row):
    rows = [
        make_row(epsilon=1.0, rmse=0.95, ndcg_at_20=0.21, where="device"),
        make_row(epsilon=8.0, rmse=0.88, ndcg_at_20=0.3, where="device"),
        make_row(channel="identity", rmse=0.87, ndcg_at_20=0.31, where="device"),
    ]
    attacked = [attack("auto", 1.0, 0.05), attack("even", 1.0, 0.25), attack("", None, 0.9)]
    attacked += [attack("even", 8.0, 0.8)]
    lead, lists, found, stake = findings(rows, attacked)
    assert "At epsilon = 1 per value the predictions of the device have an RMSE" in lead
    assert "<strong>0.950</strong>; without any privacy, 0.870" in lead
    assert "NDCG of <strong>0.210</strong>; without any privacy, 0.310" in lists
    assert "in 25 % of cases through even; without privacy in 90 %; by chance in 0.2 %" in found
    assert "guesses right at most 73.2 % of the time" in stake


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"unit": "slot", "user_epsilon": 40.0}, "is worth epsilon = 40 per person."),
        ({"unit": "user", "epsilon": 2.0, "delta": 1e-6}, "is worth epsilon = 2 per person."),
        ({"unit": "value"}, "undecided between two values before, guesses right at most 73.2 %"),
    ],
)
def test_what_a_person_has_at_stake_is_the_whole_of_it_where_that_is_known(make_row, row, said):
    assert said in findings([make_row(**row)], [])[-1]


def test_a_claim_that_fails_is_told_first_by_nobody(make_row):
    (said,) = findings([make_row(claim_valid=False)], [])
    assert "No claim that holds was compared" in said


def test_a_guess_is_rounded_up():
    assert guess(1.0) == "73.2 %"  # 73.106
    assert guess(0.0) == "50 %"


def test_always_the_mean_is_a_line_that_stretches_no_axis(make_row):
    rows = [make_row(epsilon=e, rmse=0.9 + e / 100, rmse_of_mean=9.0) for e in (1.0, 2.0)]
    chart = Chart(rows, "rmse")
    assert chart.floors == {"always the mean": 9.0}
    assert chart.limits is not None
    assert chart.limits[1] < 1
    assert "always the mean, 9.000" in html(chart)
    assert "Always the mean: 9.000." in describe(rows)
    assert Chart(rows, "ndcg_at_20").floors == {}


def test_one_split_is_said_to_be_one(make_row):
    one = [make_row(epsilon=e) for e in (1.0, 2.0)]
    assert "One split: how much figures vary is not known." in html(Chart(one, "rmse"))
    two = [*one, *(make_row(epsilon=e, seed=1) for e in (1.0, 2.0))]
    assert "Bars are a standard deviation over 2 splits." in html(Chart(two, "rmse"))


def test_a_page_says_what_was_run_on_what():
    ratings = synthetic(40, 60, 900)
    said = render("run.html", run=Provenance.of(ratings, "tacit <b> 'a b'", {"1": "optimal"}))
    assert "tacit &lt;b&gt; &#39;a b&#39;" in said
    assert "synthetic: 900 ratings by 40 people of 60 items" in said
    assert fingerprint(ratings) in said
    assert "optimal at 1" in said
    assert re.search(r"Tacit \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d", said)


def test_protected_ratings_get_no_checksum_and_what_is_empty_no_line():
    ratings = synthetic(40, 60, 900)
    said = render("run.html", run=Provenance.of(ratings, "tacit", protected=True))
    assert fingerprint(ratings) not in said
    assert "Checksum" not in said
    assert "Channel auto" not in said
