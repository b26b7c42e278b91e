"""Figures, tables and the report are functions of the rows."""

import math
import re
from html.parser import HTMLParser

import pytest

from tacit.evaluation.comparison.chart import Chart, describe
from tacit.evaluation.comparison.device_sample import DeviceSample
from tacit.evaluation.comparison.figures import INK, PALETTE, panel, svg
from tacit.evaluation.comparison.report import report
from tacit.evaluation.comparison.tables import accuracy, best, foremost, promises, text
from tacit.evaluation.html.drawing import html


@pytest.fixture
def rows(make_row):
    noisy = [
        make_row(channel=channel, model=model, epsilon=epsilon, where=where, seed=seed,
                 rmse=1.2 - 0.1 * epsilon - 0.05 * (where == "device") + 0.02 * seed)
        for channel in ("auto", "laplace") for model in ("mf", "channel-mf")
        for epsilon in (0.5, 1.0) for where in ("provider", "device") for seed in (0, 1)
    ]  # fmt: skip
    free = [make_row(channel="identity", model=m, rmse=0.9) for m in ("mf", "channel-mf")]
    return [*noisy, *free]


class Checker(HTMLParser):
    """Notes what a page would fetch and whether its tags close."""

    VOID = frozenset({"meta", "link", "br", "img", "hr"})

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        fetching = ("src", "href", "xlink:href")
        self.fetched += [v for k, v in attrs if k in fetching and not v.startswith("#")]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_is_one_file_that_fetches_nothing(rows):
    page = report(rows, split="0.1 of the ratings, drawn at random")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert checker.fetched == []
    assert "url(http" not in page
    assert page.count("<svg role") == 6
    assert "prefers-color-scheme: dark" in page
    pictures = page[page.index("</style>") :]
    assert not any(colour in pictures for colour in (INK, *map(str.lower, PALETTE)))


def test_the_report_says_the_guarantee_and_its_odds(rows):
    page = report(rows)
    assert "Epsilon = 0.5 or 1 per value, trusting nobody" in page
    assert "<b>epsilon 1</b> at most 2.72 times likelier" in page
    assert page.index("What is promised") < page.index("What it costs")
    assert "No privacy: every true rating is released as it is." in page
    assert "RMSE of <strong>1.060</strong>; without any privacy" not in page
    assert "RMSE of <strong>1.060</strong>" in page


def test_a_claim_that_fails_is_shown_as_such_and_wins_nothing(rows, make_row):
    training = {"channel": None, "model": "dpss", "where": "device", "trust": "curator"}
    broken = make_row(**training, rmse=0.5, claim_valid=False)
    page = report([*rows, broken])
    assert "does not hold (dpss; the guarantee of each says why): epsilon = 1 per value" in page
    assert "Epsilon = 0.5 or 1 per value, trusting nobody" in page
    assert "RMSE of <strong>1.060</strong>" in page
    assert "curator per value + dpss" not in page
    assert "No claim that holds was compared" in report([broken])
    assert "likelier" not in report([broken])
    kept = report([*rows, make_row(**training, rmse=0.5)])
    assert "RMSE of <strong>0.500</strong>" in kept


def test_the_sample_shows_truth_beside_report_and_escapes_titles(rows):
    pairs = [("<b>Up</b>", 4.0, 1.25), ("Heat", 2.0, 5.0)]
    sample = DeviceSample("A made-up person", "auto", "1", pairs, symbols=2)
    page = report(rows, sample=sample)
    assert "&lt;b&gt;Up&lt;/b&gt;" in page
    assert "<b>Up" not in page
    assert "<td class=n>4</td><td class=n>1.25</td>" in page
    assert "There are 2 symbols to draw from" in page
    assert "What left one device" not in report(rows)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 0.7, 1.0, 2.0, 3.0, 8.0, 16.0])
def test_no_bound_is_rounded_down(make_row, epsilon):
    page = report([make_row(channel="auto", epsilon=epsilon)])
    ((odds, guess),) = re.findall(r"at most (\S+) times likelier; .* at most (\S+) %", page)
    assert math.exp(epsilon) <= float(odds) * (1 + 1e-9) < 1.011 * math.exp(epsilon)
    right = 100 / (1 + math.exp(-epsilon))
    assert right <= float(guess) < right + 0.1 + 1e-9


def test_a_report_of_nothing_or_of_no_privacy_is_still_a_page(rows):
    assert "No experiment was finished" in report([])
    free = report([row for row in rows if row.channel == "identity"])
    assert "without privacy" in free
    assert "<figure>" not in free


def test_a_figure_has_a_line_for_everything_it_is_told(rows):
    chart = Chart(rows, "rmse")
    assert chart.channels == ["auto", "laplace"]
    assert chart.models == ["mf", "channel-mf"]
    lines = {(line.channel, line.where): line.points for line in chart.lines("mf")}
    assert len(lines) == 4
    assert lines["auto", "device"][0] == (0.5, pytest.approx(1.11), pytest.approx(0.01))
    assert chart.floor("mf") == 0.9


def test_figures_are_the_same_bytes_each_time_and_keep_text(rows):
    chart = Chart(rows, "rmse")
    picture = svg(panel(chart, "channel-mf"))
    assert picture == svg(panel(chart, "channel-mf"))
    assert re.search(r"<text[^>]*>channel-mf</text>", picture)
    words = describe(rows)
    assert "mf with auto at the device: 1.110 at 0.5, 1.060 at 1." in words
    assert "mf without privacy: 0.900." in words


@pytest.mark.parametrize("models", [1, 2, 3, 4, 5, 8])
def test_any_number_of_models_has_its_panels(make_row, models):
    rows = [make_row(model=f"m{k}") for k in range(models)]
    assert html(Chart(rows, "rmse")).count("<svg role") == models


@pytest.mark.parametrize(("metric", "worst"), [("rmse", 9.0), ("f_score_at_10", 0.0)])
def test_one_drowned_figure_does_not_flatten_the_others(make_row, metric, worst):
    values = {1.0: 0.9, 2.0: 0.8, 3.0: 0.7}
    usual = [make_row(channel="auto", epsilon=e, **{metric: x}) for e, x in values.items()]
    assert Chart(usual, metric).beyond is None
    drowned = Chart([*usual, make_row(channel="laplace", epsilon=1.0, **{metric: worst})], metric)
    low, high = drowned.limits
    assert low < 0.7 < 0.9 < high
    assert high - low < 1
    assert drowned.beyond == worst
    assert f"as far as {worst:.2f}" in html(drowned)


def test_tables_average_over_splits_and_align(rows):
    table = accuracy(rows, "rmse", "RMSE")
    assert table.heading == ("channel", "model", "where", "0.5", "1", "no privacy")
    assert ("auto", "mf", "provider", "1.160", "1.110", "0.900") in table.lines
    assert ("auto", "mf", "device", "1.110", "1.060", "–") in table.lines
    lines = text(table).splitlines()
    assert lines[0] == "RMSE; epsilon per value"
    assert len({len(line) for line in lines[2:]}) == 1


def test_a_failing_claim_is_a_line_of_its_own(make_row):
    both = [make_row(channel=None, trust="curator", model="m", rmse=1.0)]
    both.append(make_row(channel=None, trust="curator", model="m", rmse=3.0, claim_valid=False))
    lines = accuracy(both, "rmse", "RMSE").lines
    assert [(line[1], line[3]) for line in lines] == [("m", "1.000"), ("m, claim fails", "3.000")]
    assert "m, claim fails" in report(both)


def test_what_a_person_loses_is_said_wherever_it_is_known(rows, make_row):
    assert promises(rows).lines == ()
    slot = {"unit": "slot", "plan": "catalogue", "epsilon": 2.0, "user_epsilon": 80.0}
    slots = [make_row(**slot, tight_epsilon=73.45, delta=1e-6), make_row(channel="identity")]
    assert promises(slots).lines == (("even", "2 per slot", "80", "73.5"),)
    assert promises(slots).heading[-1] == "per user, delta = 1e-06"
    assert promises([make_row(**slot)]).lines[0][-1] == "–"
    page = report(slots)
    assert "Epsilon = 2 per slot, trusting nobody" in page
    assert "times likelier" in page
    assert "the losses add up" in page
    assert "<td class=n>73.5</td>" in page
    assert "who rated what" not in page
    assert "the losses add up" not in report(rows)


def test_a_device_that_hides_what_was_rated_is_shown_so(rows):
    pairs = [("seen", 5.0, 4.0), ("lost", 2.0, None), ("made up", None, 1.0)]
    page = report(rows, sample=DeviceSample("Somebody", "auto", "2", pairs, presence_public=False))
    assert "rated or not" in page
    device = page.partition("What left one device")[2].partition("<h2>")[0]
    assert device.count("class=move") == 1
    assert device.count("<td class=n>–</td>") == 2


def test_the_best_is_the_lowest_mean(rows, make_row):
    winner = foremost([*rows, make_row(epsilon=1.0, model="new", rmse=0.5)], "provider")
    assert (winner.figure, winner.model) == (0.5, "new")
    assert best(rows).lines[0][:2] == ("0.5", "1.160")
    assert best(rows).lines[-1][0] == "no privacy"
    assert foremost([], "device") is None
