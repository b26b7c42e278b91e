"""Figures of cross-domain trials show what is in the rows, and the report says it in words."""

import re
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest

from tacit.reporting.plot import draw
from tacit.results.crossdomain.charts import (
    Styles,
    Sweep,
    at_fixed,
    by_system,
    report_figures,
    sweeps,
)
from tacit.results.crossdomain.report import report
from tacit.results.crossdomain.rows import TrialRow
from tacit.results.crossdomain.surfaces import surfaces

pytestmark = pytest.mark.usefixtures("blank_pictures")

ROW = {
    "model": "near", "variant": "user", "mode": "none", "epsilon": None,
    "replacement_epsilon": None, "neighbour_epsilon": None, "delta": 0.0, "unit": "none",
    "trust": "everybody", "claim_valid": None, "promise": "No privacy.", "source": "books",
    "target": "films & more", "test_share": 0.2, "overlap": 1.0, "keep": 0, "k": None,
    "damping": None, "decay": None, "seed": 0,
    "n_train": 900, "n_test": 100, "people": 10, "mae": 0.8,
    "mae_rounded": 0.7, "coverage": 0.5, "ndcg_at_20": None, "recall_at_20": None, "mrr": None,
    "hit_rate_at_20": None, "coverage_at_20": None, "popularity_at_20": None, "seconds": 0.1,
}  # fmt: skip
STRICT = {"mode": "strict", "delta": 1e-6, "unit": "user", "trust": "curator", "claim_valid": True}


def make(**values):
    return TrialRow(**{**ROW, **values})


def strict(epsilon, **values):
    return make(model="kept", variant=None, epsilon=epsilon, promise="Kept.", **STRICT, **values)


@pytest.fixture
def rows():
    """`near` at two k and `kept` at three epsilons, both at two overlaps and two seeds."""
    places = product((0, 1), (0.5, 1.0))
    return [
        row
        for seed, overlap in places
        for row in (
            *(
                make(k=k, seed=seed, overlap=overlap, mae=k / 100 + overlap + seed)
                for k in (10, 40)
            ),
            *(strict(e, seed=seed, overlap=overlap, mae=e + overlap) for e in (0.5, 1.0, 4.0)),
        )
    ]


def test_noise_does_not_drown_the_other_lines():
    calm = [make(model=f"near {n}", k=k, mae=0.7 + n / 100) for n in range(4) for k in (10, 40)]
    loud = Sweep("k", [*calm, make(model="loud", k=10, mae=5.0), make(model="loud", k=40, mae=0.7)])
    panel = loud.panel(Styles(loud.rows))
    assert panel.ends[0] < 0.7 < 0.73 < panel.ends[1] < 1.0
    assert draw(panel).axes[0].get_title(loc="left") == "cropped; the largest value is 5.00"
    assert draw(Sweep("k", calm).panel(Styles(calm))).axes[0].get_title(loc="left") == ""


def test_the_lead_says_where_the_lowest_error_is():
    rows = [make(keep=keep, mae=0.8 - keep / 100) for keep in (0, 3)]
    assert "<strong>0.770</strong> (near (user), keep 3) without privacy" in report(rows)


def test_a_line_has_the_means_of_its_rows_where_the_other_axes_stay(rows):
    styles = Styles(rows)
    near, kept = Sweep("k", rows).lines(styles)
    assert near.points == [
        (10, pytest.approx(1.6), pytest.approx(0.5), "1.600"),
        (40, pytest.approx(1.9), pytest.approx(0.5), "1.900"),
    ]
    assert not near.even
    assert kept.even
    assert {mean for _, mean, _, _ in kept.points} == {2.0}  # epsilon 1, overlap 1
    near, kept = Sweep("overlap", rows).lines(styles)
    assert [mean for _, mean, _, _ in near.points] == pytest.approx([1.4, 1.9])  # k 40
    near, kept = Sweep("epsilon", rows).lines(styles)
    assert near.even
    assert [(x, mean) for x, mean, _, _ in kept.points] == [(0.5, 1.5), (1, 2), (4, 5)]


def test_only_axes_that_vary_are_drawn(rows):
    assert [sweep.axis for sweep in sweeps(rows)] == ["k", "overlap", "epsilon"]
    assert sweeps([make()]) == []
    assert Sweep("k", rows).at_words == ["overlap 1", "the epsilon nearest 1"]


def parted(first, second, **values):
    claim = {**STRICT, "mode": "faithful", "claim_valid": False}
    parts = {"replacement_epsilon": first, "neighbour_epsilon": second}
    return make(model="two", epsilon=first + second, promise="Said.", **parts, **claim, **values)


def test_a_surface_has_every_pair_and_is_not_drawn_with_a_gap(rows):
    grid = [parted(a, b, mae=a + b / 10) for a in (0.3, 0.6) for b in (0.8, 1.0, 2.0)]
    (found,) = surfaces(at_fixed(rows + grid))
    assert found.method == "two (user), claim fails"
    assert found.entries()[1, 2] == pytest.approx(0.8)
    assert len(found.entries()) == 6
    texts = [text.get_text() for text in found.figure().axes[0].texts]
    assert sorted(texts) == ["0.380", "0.400", "0.500", "0.680", "0.700", "0.800"]
    assert surfaces(at_fixed(grid[:-1])) == surfaces(at_fixed(rows)) == []
    shown = [line.name for line in sweeps(rows + grid)[-1].lines(Styles(rows + grid))]
    assert shown == ["near (user)", "kept, strict"]


def test_no_two_systems_look_alike():
    many = Styles([make(model=f"m{k}") for k in range(30)])
    assert len({many.of(name) for name in many.names}) == 30


def test_a_panel_draws_the_points_it_describes(rows):
    sweep = Sweep("k", rows)
    lines = draw(sweep.panel(Styles(rows))).axes[0].lines
    drawn = [list(line.get_ydata()) for line in lines if len(line.get_xdata()) == 2]
    assert [1.6, 1.9] in [pytest.approx(ys) for ys in drawn]
    assert "near (user): 1.600 at 10, 1.900 at 40." in sweep.panel(Styles(rows)).describe("MAE")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]


def test_the_report_is_one_page_that_says_the_promise_and_every_figure(rows):
    grid = [parted(a, b, mae=a + b) for a in (0.3, 0.6) for b in (0.8, 1.0)]
    text = report(rows + grid)
    assert len(set(Page(text).ids)) == len(Page(text).ids)
    assert not re.search(r"(src|href)=\"?https?:", text)
    assert "films &amp; more" in text
    assert "kept: Kept. Alike at epsilon = 0.5 or 4." in text
    line = 'two (user) claims epsilon = 1.1, 1.3, 1.4 or 1.6 per user. <a href="#claim-1">Why</a>'
    assert text.index(line) < text.index("<p id=claim-1>two (user), claim fails: Said.")
    assert "at epsilon = 1 per user" in text
    assert text.count("<svg") == 4
    assert "no promise" not in text
    assert all(f"{row.mae:.3f}" in text for row in grid)


def test_where_nothing_varies_every_system_stands_beside_the_others():
    """Once for each claim, the lowest error on top, and the spread over seeds."""
    found = [
        make(model=name, mae=mae + seed / 10, seed=seed)
        for name, mae in (("far", 0.9), ("near", 0.7), ("mean", 0.8))
        for seed in (0, 1)
    ]
    axes = draw(by_system(found, "mae", 3)).axes[0]
    named = [label.get_text().split(",")[0] for label in axes.get_yticklabels()]
    assert [name.split(" ")[0] for name in named] == ["far", "mean", "near"]
    dots = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert dots == pytest.approx([0.95, 0.85, 0.75])
    bars = [np.ptp(bar.get_segments()[0][:, 0]) for bar in axes.collections]
    assert bars == pytest.approx([0.1] * 3)
    text = report(found)
    assert text.count("<svg") == 1
    assert "error bars show one standard deviation over 2 draws" in text
    assert "; one draw." in report(found[::2])


def test_a_report_of_nothing_is_a_page_too():
    assert "No trial finished." in report([])


def test_a_floor_is_dashed_and_lists_have_a_figure_of_their_own(rows):
    flat = [make(model="item-average", variant=None, k=None, mae=0.9, seed=s) for s in (0, 1)]
    places = {"popularity": 0.3, "random": 0.0, "near": 0.4}
    listed = [
        make(model=name, variant=None, mae=None, ndcg_at_20=figure, coverage_at_20=0.1)
        for name, figure in places.items()
    ]
    (against,) = (figure for figure in report_figures(rows + flat) if len(figure.panels) > 1)
    lines = {line.name: line for line in against.panels[0].live.lines}
    assert lines["item-average"].stroke == "baseline"
    assert lines["near (user)"].stroke == "solid"
    assert "Error bars and bands show one standard deviation over 2 draws" in against.caption
    (lists,) = report_figures(listed)
    assert list(lists.panels[0].live.rows) == [
        "random, no privacy", "popularity, no privacy", "near, no privacy"
    ]  # fmt: skip
    assert {floor.name for floor in lists.panels[0].live.baselines} == {"popularity", "random"}
