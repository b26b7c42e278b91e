"""The attacks of a report: those that the comparison's terms allow, in words and in figures."""

from dataclasses import replace

import pytest

from tacit.experiments.attacks import quick_attacks
from tacit.readers import synthetic
from tacit.results.attacks.report import attack_section
from tacit.results.comparison.report import report

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture(scope="module")
def rows():
    return quick_attacks(
        synthetic(120, 80, 4000, rng=1),
        plan="rated",
        channels=["identity", "randomized-response"],
        epsilons=["0.5", "3"],
    )


def of(rows, epsilon):
    return {(row.setting, row.figure): row for row in rows if row.epsilon == epsilon}


def test_more_epsilon_is_more_found(rows):
    top = ("8 random items with stars", "top-1")
    half, three, free = (of(rows, epsilon)[top].value for epsilon in (0.5, 3.0, None))
    assert half < three <= free
    assert free > 0.99
    assert not any(row.leaks for row in rows)


def test_each_of_the_terms_has_its_line_and_the_guess_is_last(rows):
    words = attack_section(rows)
    assert [terms for terms, _ in words.linked] == [
        "randomized-response at 0.5 under rated",
        "randomized-response at 3 under rated",
        "no privacy",
        "without reports",
    ]
    lines = [told for _, told in words.linked]
    found = of(rows, 3.0)[("8 random items with stars", "top-1")]
    percent, _, rest = lines[1].partition(" % of users; ")
    assert rest
    assert float(percent) == pytest.approx(100 * found.value, rel=0.05)  # two digits
    assert lines[3].startswith(f"{100 / 120:.2g} % of users")
    assert any("as sensitive as the ratings" in part for part in words.said)


def test_a_leak_is_said(rows):
    (guilty,) = [r for r in rows if r.epsilon == 3.0 and r.figure == "balanced accuracy"]
    leaking = [replace(row, leaks=row is guilty) for row in rows]
    assert any("above the" in part for part in attack_section(leaking).said)


def test_nothing_is_played_where_no_channel_is(make_row):
    ratings = synthetic(60, 50, 1500, rng=1)
    assert quick_attacks(ratings, plan="rated", channels=["identity"], epsilons=["1"]) == []
    assert "<h2>Attacks</h2>" not in report([make_row()])


def test_the_report_has_them_after_what_is_promised(rows, make_row):
    page = report([make_row()], attacked=rows)
    places = [page.index(title) for title in ("<figure>", "Privacy guarantee", "<h2>Attacks</h2>")]
    assert places == sorted(places)
