"""Figures, tables and the report are functions of the rows."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markupsafe import Markup

from tacit.metrics.accuracy import Slice
from tacit.reporting.page import render
from tacit.reporting.panel import PALETTE, limits, separated
from tacit.reporting.plot import INK, draw, svg
from tacit.reporting.table import text
from tacit.results.comparison.chart import Chart
from tacit.results.comparison.device_sample import DeviceSample
from tacit.results.comparison.report import report as rendered
from tacit.results.comparison.tables import accuracy, best, foremost, promises, slice_tables
from tacit.results.guarantee_text import failed
from tacit.training.papers.xian import OBJECTIVE, RAW


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


PAGES = {}


def report(rows, **more):
    """The page of these rows with blank pictures, rendered once."""
    key = repr((rows, more))
    if key not in PAGES:
        with pytest.MonkeyPatch.context() as patch:
            blank = Markup('<svg role="img"></svg>')
            patch.setattr("tacit.reporting.page.inline", lambda drawing, prefix, words: blank)
            PAGES[key] = rendered(rows, **more)
    return PAGES[key]


def html(chart):
    return render("figure.html", figure=chart.report_figure())


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
    page = rendered(rows, split="0.1 of the ratings, drawn at random")
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
    assert "<b>epsilon 1</b> <span>ratio at most 2.72" in page
    assert page.index("<figure>") < page.index("Privacy guarantee")
    assert "No privacy: every true rating is released without noise." in page
    assert "<strong>1.060</strong> (" not in page
    assert "RMSE on the device is <strong>1.060</strong>" in page


def test_a_claim_that_fails_is_shown_as_such_and_wins_nothing(rows, make_row):
    training = {"channel": None, "model": "dpss", "where": "device", "trust": "curator"}
    broken = make_row(**training, rmse=0.5, claim_valid=False)
    page = report([*rows, broken])
    assert "not satisfied (dpss; see the reason in each guarantee): epsilon = 1 per value" in page
    assert "Epsilon = 0.5 or 1 per value, trusting nobody" in page
    assert "RMSE on the device is <strong>1.060</strong>" in page
    assert "curator per value + dpss" not in page
    line = 'dpss claims epsilon = 1 per value. <a href="#claim-1">Why</a>'
    assert page.index(line) < page.index("All metrics") < page.index("<p id=claim-1>dpss: Claimed")
    assert "No valid guarantee was compared" in report([broken])
    assert "likelier" not in report([broken])
    kept = report([*rows, make_row(**training, rmse=0.5)])
    assert "RMSE on the device is <strong>0.500</strong>" in kept


def test_a_claim_of_a_paper_that_fails_has_its_reason(make_row):
    training = {"channel": None, "where": "curator", "trust": "curator", "claim_valid": False}
    rows = [make_row(**training, model="dpsaobj", mode="faithful", epsilon=e) for e in (1.0, 3.0)]
    (claim,) = failed(rows)
    assert claim.line == "dpsaobj claims epsilon = 1 or 3 per value"
    assert RAW in claim.why
    assert OBJECTIVE in claim.why
    assert failed([replace(row, claim_valid=True) for row in rows]) == []


def test_the_sample_shows_truth_beside_report_and_escapes_titles(rows):
    pairs = [("<b>Up</b>", 4.0, 1.25), ("Heat", 2.0, 5.0)]
    sample = DeviceSample("A made-up person", "auto", "1", pairs, symbols=2)
    page = report(rows, sample=sample)
    assert "&lt;b&gt;Up&lt;/b&gt;" in page
    assert "<b>Up" not in page
    assert "<td class=n>4</td><td class=n>1.25</td>" in page
    assert "The channel has 2 symbols." in page
    assert "Reports of one device" not in report(rows)


def test_no_bound_is_rounded_down(make_row):
    epsilons = [0.01, 0.1, 0.5, 0.7, 1.0, 2.0, 3.0, 8.0, 16.0]
    page = report([make_row(channel="auto", epsilon=epsilon) for epsilon in epsilons])
    said = re.findall(r"epsilon (\S+?)<.*at most (\S+); .* at most (\S+) %", page)
    assert [float(epsilon) for epsilon, _, _ in said] == epsilons
    for epsilon, (_, odds, guess) in zip(epsilons, said, strict=True):
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
    assert chart.shown == ["auto", "laplace"]
    assert chart.models == ["mf", "channel-mf"]
    lines = {line.name: line.points for line in chart.lines("mf")}
    assert len(lines) == 4
    assert lines["auto, device"][0][:3] == (0.5, pytest.approx(1.11), pytest.approx(0.01))
    assert chart.free("mf") == 0.9


def test_figures_are_the_same_bytes_each_time_and_keep_text(rows):
    chart = Chart(rows, "rmse")
    picture = svg(draw(chart.panel("channel-mf")))
    assert picture == svg(draw(chart.panel("channel-mf")))
    assert re.search(r"<text[^>]*>channel-mf</text>", picture)
    words = Chart(rows, "rmse").describe()
    assert "mf, auto, device: 1.110 at 0.5, 1.060 at 1." in words
    assert "mf, provider, no privacy: 0.900." in words


@pytest.mark.sampled(3)
@pytest.mark.parametrize("models", [1, 3, 8])
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
    assert f"outside a panel is {worst:.2f}" in html(drowned)


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
    assert "ratio at most" in page
    assert "epsilon adds up" in page
    assert "<td class=n>73.5</td>" in page
    assert "which items each user rated" not in page
    assert "epsilon adds up" not in report(rows)


def test_a_device_that_hides_what_was_rated_is_shown_so(rows):
    pairs = [("seen", 5.0, 4.0), ("lost", 2.0, None), ("made up", None, 1.0)]
    page = report(rows, sample=DeviceSample("Somebody", "auto", "2", pairs, presence_public=False))
    assert "rated or not" in page
    device = page.partition("Reports of one device")[2].partition("<h2>")[0]
    assert device.count("class=move") == 1
    assert device.count("<td class=n>–</td>") == 2


def test_the_best_is_the_lowest_mean(rows, make_row):
    winner = foremost([*rows, make_row(epsilon=1.0, model="new", rmse=0.5)], "provider")
    assert (winner.figure, winner.model) == (0.5, "new")
    assert best(rows).lines[0][:2] == ("0.5", "1.160")
    assert best(rows).lines[-1][0] == "no privacy"
    assert foremost([], "device") is None


@pytest.fixture
def sliced(make_row):
    """Two splits of one model at two epsilons; people fall into two deciles, items into one."""

    def made(seed, **values):
        free = 1 + seed
        over = values.get("epsilon") or 0
        people = [("activity", 1, 1 + seed, 5, free + over, over), ("activity", 8, 6, 9, free, 0.0)]
        parts = [*people, ("popularity", 6, 3, 3, free - over, -over)]
        return make_row(seed=seed, **values, slices=tuple(
            Slice(by=by, decile=decile, fewest=few, most=most, members=4, tested=8,
                  slice_rmse=rmse, privacy_cost=cost)
            for by, decile, few, most, rmse, cost in parts
        ))  # fmt: skip

    epsilons = ({"epsilon": 0.25}, {"epsilon": 0.5}, {"channel": "identity"})
    return [made(seed, **values) for seed in (0, 1) for values in epsilons]


def test_slices_are_a_line_a_decile_with_what_privacy_costs(sliced, make_row):
    people, items = slice_tables([*sliced, make_row(slices=())])
    assert people.heading[1:] == ("decile", "training ratings", "0.25", "0.5", "no privacy",
                                  "increase at 0.25", "increase at 0.5")  # fmt: skip
    seen = "even, mean, provider"
    assert people.lines == (
        (seen, "1", "1 to 5", "1.750", "2.000", "1.500", "+0.250", "+0.500"),
        (seen, "8", "6 to 9", "1.500", "1.500", "1.500", "+0.000", "+0.000"),
    )
    assert items.lines == ((seen, "6", "3", "1.250", "1.000", "1.500", "-0.250", "-0.500"),)
    assert items.caption.endswith("items, and increase over no privacy, mean over splits; "
                                  "epsilon per value")  # fmt: skip
    assert len({len(line) for line in text(items).splitlines()[2:]}) == 1


def test_slices_of_each_channel_and_place_stand_by_themselves(sliced):
    """Rows of other slices at the same model and epsilon change no line."""
    other = [
        replace(row, **place, slices=tuple(replace(part, slice_rmse=9.0) for part in row.slices))
        for place in ({"where": "device"}, {"channel": "laplace", "channel_id": "cd"})
        for row in sliced
        if row.epsilon is not None or "where" in place
    ]
    alone, among = slice_tables(sliced)[0].lines, slice_tables([*sliced, *other])[0].lines
    assert among[: len(alone)] == alone
    assert {line[0] for line in among[len(alone) :]} == {
        "even, mean, device", "laplace, mean, provider"
    }  # fmt: skip
    assert all(line[3:5] == ("9.000", "9.000") for line in among[len(alone) :])


def test_slices_of_what_never_ran_without_privacy_have_no_cost(sliced):
    (line, _), _ = (table.lines for table in slice_tables([
        replace(row, slices=tuple(replace(part, privacy_cost=None) for part in row.slices))
        for row in sliced if row.channel != "identity"
    ]))  # fmt: skip
    assert line[3:] == ("1.750", "2.000", "–", "–", "–")
    alone = slice_tables([row for row in sliced if row.channel == "identity"])
    assert alone[0].lines[0] == ("identity, mean, provider", "1", "1 to 5", "1.500")


def test_the_report_has_slices_where_there_are_some(sliced, rows):
    page = report(sliced)
    Checker().feed(page)
    part = page.partition("Accuracy by user and item activity")[2]
    assert "<th colspan=6 scope=rowgroup>even, mean, provider</th>" in part
    assert "<th scope=row>8 <small>6 to 9</small></th><td class=n>1.500</td>" in part
    assert "<th scope=col>decile, training ratings</th>" in part
    assert "Whose predictions" not in report(rows)
    assert slice_tables(rows) == []


def test_the_report_has_the_efficiency_of_devices(make_row):
    one = make_row(where="device", information_efficiency=0.8125)
    nan = make_row(information_efficiency=math.nan)
    assert "<th scope=row>mean <small>device</small></th><td class=n>0.812</td>" in report(
        [one, nan]
    )
    assert "(1: nothing is lost)" not in report([nan])


def live(page):
    """What scripts draw on a page."""
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return [json.loads(text) for text in found]


def test_scripts_draw_what_the_picture_shows(rows):
    chart = Chart(rows, "rmse")
    panels = live(html(chart))
    assert [shown["title"] for shown in panels] == chart.models
    for shown, model in zip(panels, chart.models, strict=True):
        drawn = {line["name"]: line["points"] for line in shown["lines"]}
        for line in chart.lines(model):
            points = drawn.pop(line.name)
            assert [tuple(point) for point in points] == list(line.points)
            assert [float(point[3]) for point in points] == pytest.approx(
                [mean for _, mean, _, _ in line.points], abs=5e-4
            )
        assert [point[1] for point in drawn.pop("provider, no privacy")] == [0.9, 0.9]
        assert not drawn
        assert shown["baselines"] == [{"name": "mean rating", "value": 1.5, "text": "1.500"}]
        assert tuple(shown["ends"]) == chart.limits


def test_a_model_without_a_line_has_no_panel_and_no_gap(make_row):
    """Of NDCG: random and popularity ran without privacy alone, and are floors of the others."""
    lists = {"random": 0.01, "popularity": 0.2}
    rows = [make_row(epsilon=e, ndcg_at_20=0.3, rmse=x) for e, x in ((1.0, 0.9), (2.0, math.nan))]
    rows += [
        make_row(channel="identity", model=name, ndcg_at_20=figure, rmse=math.nan)
        for name, figure in lists.items()
    ]
    rows.append(make_row(epsilon=4.0, rmse=0.8, rmse_of_mean=math.nan))
    chart = Chart(rows, "ndcg_at_20")
    assert chart.models == ["mean"]
    assert chart.baselines == {"random list": 0.01, "popularity": 0.2}
    assert html(chart).count("<svg role") == 1
    (line,) = Chart(rows, "rmse").lines("mean")
    assert [epsilon for epsilon, *_ in line.points] == [1.0, 4.0]
    assert Chart(rows, "rmse").baselines == {"mean rating": 1.5}
    across = [one.get_ydata() for one in draw(chart.panel("mean")).axes[0].lines if one.is_dashed()]
    assert {0.2, 0.01} <= {float(ys[0]) for ys in across}


def test_a_floor_stretches_the_axis_unless_it_would_flatten_the_lines():
    assert limits([0.8, 1.0], lower_is_better=True, baselines=[1.3])[1] > 1.3
    assert limits([0.8, 1.0], lower_is_better=True, baselines=[1.5])[1] < 1.1


def test_noise_is_not_blown_up_to_the_height_of_a_panel(make_row):
    rows = [
        make_row(epsilon=epsilon, seed=seed, f_score_at_10=0.78 + epsilon / 1e4 + 0.02 * seed)
        for epsilon in (1.0, 2.0)
        for seed in (0, 1)
    ]
    low, high = Chart(rows, "f_score_at_10").limits
    assert low < 0.78 < 0.80 < high


def test_tick_labels_are_separated():
    assert separated([0.1, 1.0, 1.1, 1.2, 10.0], logarithmic=True) == [0.1, 1.0, 10.0]
    assert separated([1, 2, 3, 4, 5], logarithmic=False) == [1, 2, 3, 4, 5]
    assert separated([1.0, 1.01], logarithmic=True) == [1.0, 1.01]
