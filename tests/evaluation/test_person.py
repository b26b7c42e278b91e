"""One axis: what a whole person has is what was asked for, found again from the tables."""

import itertools
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.evaluation.comparison import tools
from tacit.evaluation.comparison.request import Comparison
from tacit.evaluation.comparison.runner import ComparisonRunner
from tacit.evaluation.journal import Journal
from tacit.evaluation.person.axis import on_axis, terms_table
from tacit.evaluation.person.request import PersonComparison
from tacit.evaluation.person.slots import STEPS, slot_terms
from tacit.evaluation.results import ResultRow
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.training import LIST_TRAININGS, PER_PERSON, TRAININGS

SCALE = RatingScale.parse("1:5:1")


def terms(kind, person="2", delta="1e-6", n_items=60, channel="randomized-response", scale=SCALE):
    return slot_terms(
        kind, person, delta, n_items=n_items, channel=channel, scale=scale, make=tools.plan
    )


def worst_delta(table, slots, epsilon):
    """The largest delta at which `slots` answers from this table, about any two profiles, have
    this epsilon: every sequence of symbols, for all pairs of rows in every slot."""
    most = 0.0
    for pair in itertools.permutations(range(len(table)), 2):
        p, q = (np.array([1.0]), np.array([1.0]))
        for _ in range(slots):
            p, q = (np.outer(a, table[row]).ravel() for a, row in zip((p, q), pair, strict=True))
        most = max(most, float(np.maximum(0, p - np.exp(epsilon) * q).sum()))
    return most


@pytest.mark.parametrize("person", ["1", "4"])
def test_a_person_has_what_was_asked_for_and_a_step_more_is_too_much(person):
    found = terms("sample", person)
    slots = int(found.plan.removeprefix("sample:"))
    assert slots <= 5
    for epsilon, holds in ((found.epsilon, True), (_next(found.epsilon), False)):
        plan = tools.plan(found.plan, "randomized-response", epsilon, SCALE, None)
        table = np.array(plan.channels[0].likelihood)
        delta = worst_delta(table, slots, float(person) + 1e-9)
        assert (delta <= 1e-6) == holds, (epsilon, delta)


def _next(epsilon):
    return STEPS[STEPS.index(epsilon) + 1]


@pytest.mark.parametrize(("kind", "person"), [("sample", "0.5"), ("catalogue", "3")])
def test_the_plans_own_account_is_within_it(kind, person):
    found = terms(kind, person, channel="auto")
    plan = tools.plan(found.plan, "auto", found.epsilon, SCALE, found.cap)
    assert plan.tight_guarantee(60, "1e-6") == found.person
    assert Decimal(found.person.epsilon) <= Decimal(person)
    assert found.person.unit == "user"
    assert (found.cap is None) == (kind == "sample")


def test_more_budget_tells_more():
    assert terms("sample", "1").told < terms("sample", "2").told < terms("sample", "8").told


def test_what_no_step_allows_is_said():
    with pytest.raises(
        RequestError, match=r"No sample of this catalogue is within epsilon 0\.0001"
    ):
        terms("sample", "0.0001")


@pytest.fixture(scope="module")
def ratings():
    return synthetic(80, 60, 2000, rng=2)


@pytest.fixture(scope="module")
def asked():
    every = Comparison(
        channels=("randomized-response",), models=("bias", "dp-covariance"), epsilons=("1",)
    )
    return PersonComparison(epsilons=("2", "8"), every=every)


def test_the_terms_follow_from_scale_and_catalogue_alone(ratings, asked):
    sampled, other = replace(asked, kinds=("sample",)), synthetic(200, 60, 5000, rng=9)
    assert sampled.terms(ratings, tools.tools()) == sampled.terms(other, tools.tools())


def test_every_row_stands_where_its_own_figure_is(ratings, asked):
    real = tools.tools()
    terms = asked.terms(ratings, real)
    rows = asked.run(ratings, terms, real, Journal(None, ResultRow), lambda *progress: None)
    placed = on_axis(rows, terms)
    assert len(placed) == len(rows)
    assert {row.unit for row in placed if row.epsilon is not None} == {"user"}
    assert sorted({row.epsilon for row in placed if row.epsilon}) == [2, 8]
    free = [row for row in rows if row.epsilon is None]
    assert len(free) == 2  # bias in two places, once
    for row in rows:
        if row.unit == "slot":
            (own,) = [
                each
                for each in terms.values()
                if (each.plan, each.cap, float(each.slot.epsilon))
                == (row.plan, row.cap, row.epsilon)
            ]
            assert row.tight_epsilon == float(own.person.epsilon)
    reports = [row.channel for row in placed if row.epsilon and row.model == "bias"]
    assert set(reports) == {"randomized-response, sample", "randomized-response, catalogue"}
    assert len(reports) == 8
    trusts = [row.trust for row in placed if row.epsilon is not None]
    assert trusts == sorted(trusts, key=lambda trust: trust != "nobody")
    assert len(terms_table(terms, "1e-6").lines) == 4


def test_two_plans_at_one_epsilon_never_share_reports(ratings, asked):
    """A channel at an epsilon is not a plan: the runner keeps reports for the next model alone."""
    shared = []
    real = tools.tools()
    spied = replace(
        real, fit=lambda model, data, **rest: shared.append(data) or real.fit(model, data, **rest)
    )
    every = replace(asked.every, models=("bias",))
    runner = ComparisonRunner(ratings, every.protocol, spied)
    for plan in ("sample:5", "sample:20"):
        (one,) = [
            e for e in replace(every, plan=plan).experiments(ratings) if e.epsilon is not None
        ]
        runner(one)
    assert [len(data) for data in shared] == [5 * 80, 20 * 80]


def test_a_promise_per_value_is_refused():
    every = Comparison(channels=("auto",), models=("dpss",), epsilons=("1",))
    with pytest.raises(RequestError, match="dpss promises something to each value"):
        PersonComparison(epsilons=("1",), every=every)


def test_those_per_person_are_those_whose_promise_says_so(ratings):
    strict = {name: one for (name, mode), one in TRAININGS.items() if mode == "strict"}
    units = {
        name: one.fit(ratings, epsilon="4", delta="1e-6").guarantee.unit
        for name, one in {**strict, **LIST_TRAININGS}.items()
    }
    assert {name for name, unit in units.items() if unit == "user"} == {
        *PER_PERSON,
        *LIST_TRAININGS,
    }


def test_the_verb_prints_one_table_and_refuses_a_plan_of_its_own(run, tmp_path, ratings):
    data = tmp_path / "made.csv"
    ratings.to_polars().write_csv(data)
    common = ("compare", data, "--scale", "1:5:1", "--person-epsilon", "2", "--model", "bias")
    status, printed, said = run(*common, "--report", tmp_path / "out.html")
    assert status == 0, said
    assert "epsilon per user" in printed
    assert "The plan rated is not here" in printed
    assert "Epsilon = 2 per user, delta = 1e-06, trusting nobody" in printed
    assert "auto, sample" in (tmp_path / "out.html").read_text()
    status, _, said = run(*common, "--plan", "rated")
    assert status != 0
    assert "--person-epsilon chooses plan" in said
