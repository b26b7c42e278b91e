"""Templates put in text and no markup, miss nothing without saying so, and are in the wheel."""

import re
from dataclasses import replace

import pytest
from jinja2 import UndefinedError
from made_reports import PAGES, trials

from tacit import synthetic
from tacit.experiments.attacks import AttackRequest, experiment
from tacit.reporting.page import Provenance, render
from tacit.reporting.table import Table
from tacit.results.attacks.report import report as attacks
from tacit.results.choice.report import Criteria
from tacit.results.choice.report import report as choice
from tacit.results.choice.tradeoff import Tradeoff
from tacit.results.comparison.device_sample import DeviceSample
from tacit.results.comparison.report import report as comparison
from tacit.results.crossdomain.report import report as crossdomain

HOSTILE = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"
RATINGS = replace(synthetic(40, 60, 900), name=HOSTILE)
RUN = Provenance.of(RATINGS, HOSTILE, {HOSTILE: HOSTILE})


@pytest.fixture
def compared(make_row):
    row = make_row(dataset=HOSTILE, channel=HOSTILE, model=HOSTILE, plan=HOSTILE, plugins=HOSTILE)
    sample = DeviceSample(HOSTILE, HOSTILE, HOSTILE, [(HOSTILE, 1.0, 2.0)])
    return comparison([row], sample=sample, split=HOSTILE, run=RUN)


@pytest.fixture
def attacked():
    asked = AttackRequest(attacks=("reconstruction",), plans=("rated",), channels=("optimal",))
    rows = experiment(asked, RATINGS).rows()
    return attacks([replace(row, channel=HOSTILE) for row in rows], RUN)


@pytest.fixture
def crossed():
    row = next(trials(1, (0,), (1.0,)))
    return crossdomain([replace(row, model=HOSTILE, source=HOSTILE, promise=HOSTILE)], RUN)


@pytest.fixture
def chosen():
    found = Tradeoff(((0.5, 0.8), (1.0, 0.2)), HOSTILE)
    return choice(found, Criteria(), RUN)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", ["compared", "attacked", "crossed", "chosen"])
def test_a_name_is_text_wherever_it_stands(page, request):
    shown = request.getfixturevalue(page)
    assert HOSTILE not in shown
    assert ESCAPED in shown.partition("<h1>")[2].partition("<h2>")[0]
    assert f"<code>{ESCAPED}</code>" in shown


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_fetches_nothing_and_leads_nowhere_else(page):
    shown = PAGES[page]()
    led = re.findall(r"(?:src|href|action)=[\"']?([^\s>\"']+)", shown.partition("<script>")[0])
    assert all(to.startswith("#") for to in led)
    assert "url(" not in shown.partition("</style>")[0]


def test_a_value_that_is_not_given_is_no_empty_place():
    with pytest.raises(UndefinedError, match="'names' is undefined"):
        render("attacks.html", title="", experiment="", said=[], attacks=[], run=None)


def test_columns_of_figures_alone_stand_to_the_right():
    cells = ("0.5", "+0.25", "–", "1 to 5", "0.125 (0.010)", "73.2 %", "1e-06", "1,200", "")
    words = ("8 random items", "no privacy", "2 per slot", "u2", "always", "top-1")
    table = Table("", (*cells, *words), ((*cells, *words),))
    assert table.numeric == (True,) * len(cells) + (False,) * len(words)
    mixed = Table("", ("a", "b"), (("1", "1"), ("none", "2")))
    assert mixed.numeric == (False, True)
