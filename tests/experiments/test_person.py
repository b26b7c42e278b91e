"""One axis: what a whole person has is what was asked for, found again from the tables."""

import itertools
import json
import math
import tomllib
from dataclasses import replace
from decimal import Decimal
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest

from tacit.collection.named_plans import plan_of
from tacit.collection.slot_terms import STEPS, slot_terms
from tacit.errors import RequestError
from tacit.experiments.comparison import measurement
from tacit.experiments.comparison.comparison import Comparison
from tacit.experiments.comparison.measurement import Measurement
from tacit.experiments.comparison.user_level import UserLevelComparison, on_axis, terms_table
from tacit.readers import synthetic
from tacit.scale import RatingScale
from tacit.training import LIST_TRAININGS, PER_PERSON, PGMF, TRAININGS
from tacit.training.gradient_report import two_points
from tacit.training.mechanism.noisy_releases import SecretReleases

pytestmark = pytest.mark.usefixtures("blank_pictures")

SCALE = RatingScale.parse("1:5:1")


@pytest.fixture
def few_sizes(monkeypatch):
    """Two sizes of a sample, and two caps, in place of nine: no claim is about their number."""
    monkeypatch.setattr("tacit.collection.slot_terms.SIZES", (1, 5))


@cache
def terms(kind, person="2", delta="1e-6", n_items=60, channel="randomized-response", scale=SCALE):
    return slot_terms(kind, person, delta, n_items=n_items, channel=channel, scale=scale)


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


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("few_sizes")
@pytest.mark.parametrize("person", ["1", "4"])
def test_a_person_has_what_was_asked_for_and_a_step_more_is_too_much(person):
    found = terms("sample", person)
    slots = int(found.plan.removeprefix("sample:"))
    assert slots <= 5
    for epsilon, holds in ((found.epsilon, True), (_next(found.epsilon), False)):
        plan = plan_of(found.plan, "randomized-response", epsilon, SCALE, None)
        table = np.array(plan.channels[0].likelihood)
        delta = worst_delta(table, slots, float(person) + 1e-9)
        assert (delta <= 1e-6) == holds, (epsilon, delta)


def profiles(slots, cap):
    """Every profile of at most `cap` ratings: the input of each slot, 0 where nothing is rated."""
    inputs = itertools.product(range(1 + SCALE.n_levels), repeat=slots)
    return [each for each in inputs if np.count_nonzero(each) <= cap]


def law(table, profile):
    """The share of every sequence of symbols, of a person with this profile."""
    shares = np.ones(1)
    for row in profile:
        shares = np.outer(shares, table[row]).ravel()
    return shares


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n_items", "person"), [(3, "2"), (4, "1")])
def test_no_two_profiles_under_a_cap_are_told_apart_by_more(n_items, person):
    """Every pair of people with at most so many ratings, over every sequence of symbols."""
    found = terms("catalogue", person, n_items=n_items, channel="randomized-response")
    plan = plan_of("catalogue", "randomized-response", found.epsilon, SCALE, found.cap)
    table = np.array(plan.channels[0].likelihood)
    laws = np.array([law(table, each) for each in profiles(n_items, found.cap)])

    def worst(epsilon):
        odds = math.exp(epsilon)
        return max(float(np.maximum(0, one - odds * laws).sum(1).max()) for one in laws)

    assert worst(float(found.person.epsilon)) <= 1e-6
    assert worst(0.7 * float(found.person.epsilon)) > 1e-6  # nor is much less than that promised


def gaussian_delta(multipliers, epsilon):
    """Delta of Gaussian releases together, of which one of multiplier 1 / |1 / multipliers| tells
    as much (Balle and Wang 2018, Theorem 8)."""
    mu = math.hypot(*(1 / float(each) for each in multipliers))
    below = NormalDist().cdf
    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("name", ["dpals", "dp-covariance", "dp-ease"])
def test_what_a_training_drew_is_what_a_person_was_promised(name, ratings):
    releases = SecretReleases()
    known = LIST_TRAININGS.get(name) or TRAININGS[name, "strict"]
    fitted = known.fit(ratings, epsilon="3", delta="1e-6", releases=releases)
    assert (fitted.guarantee.epsilon, fitted.guarantee.unit) == ("3", "user")
    assert {look.kind for look in releases.spent} == {"gaussian"}
    drawn = [look.price for look in releases.spent]
    assert 1e-8 < gaussian_delta(drawn, 3) <= 1e-6
    assert gaussian_delta([0.8 * float(each) for each in drawn], 3) > 1e-6


def test_answers_in_rounds_add_up_to_what_a_person_was_promised():
    training = PGMF()
    reports, each = training.budget("3")
    table = np.array(two_points(each).likelihood)
    assert reports * math.log((table.max(0) / table.min(0)).max()) <= 3 + 1e-9
    assert training.guarantee("3").epsilon == "3"


def _next(epsilon):
    return STEPS[STEPS.index(epsilon) + 1]


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("few_sizes")
@pytest.mark.parametrize(("kind", "person"), [("sample", "0.5"), ("catalogue", "3")])
def test_the_plans_own_account_is_within_it(kind, person):
    found = terms(kind, person, channel="auto")
    plan = plan_of(found.plan, "auto", found.epsilon, SCALE, found.cap)
    assert plan.tight_guarantee(60, "1e-6") == found.person
    assert Decimal(found.person.epsilon) <= Decimal(person)
    assert found.person.unit == "user"
    assert (found.cap is None) == (kind == "sample")


@pytest.mark.usefixtures("few_sizes")
def test_more_budget_tells_more():
    assert terms("sample", "1").information < terms("sample", "4").information


@pytest.mark.usefixtures("few_sizes")
def test_what_no_step_allows_is_said():
    with pytest.raises(
        RequestError, match=r"No sample plan on this catalogue stays within epsilon 0\.0001"
    ):
        terms("sample", "0.0001")


@pytest.fixture(scope="module")
def ratings():
    return synthetic(50, 42, 1000, rng=2)


@pytest.fixture(scope="module")
def asked():
    every = Comparison(
        channels=("randomized-response",), models=("bias", "dp-covariance"), epsilons=("1",)
    )
    return UserLevelComparison(epsilons=("2", "8"), every=every)


@pytest.mark.usefixtures("few_sizes")
def test_the_terms_follow_from_scale_and_catalogue_alone(ratings, asked):
    sampled, other = replace(asked, kinds=("sample",)), synthetic(90, 42, 1800, rng=9)
    assert sampled.terms(ratings) == sampled.terms(other)


@pytest.mark.usefixtures("few_sizes")
def test_every_row_stands_where_its_own_figure_is(ratings, asked):
    terms = asked.terms(ratings)
    rows = asked.experiment(ratings, terms).rows()
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
    page = asked.experiment(ratings, terms).page(rows)
    assert "the set of users and the catalogue" in page
    assert "which items each user rated" not in page


def test_two_plans_at_one_epsilon_never_share_reports(ratings, asked, monkeypatch):
    """A channel at an epsilon is not a plan: the runner keeps reports for the next model alone."""
    shared, perturb = [], measurement.perturb
    monkeypatch.setattr(
        measurement, "perturb", lambda *given: shared.append(perturb(*given)) or shared[-1]
    )
    every = replace(asked.every, models=("bias",))
    measure = Measurement(every, ratings)
    for plan in ("sample:5", "sample:20"):
        (one,) = [e for e in replace(every, plan=plan).cells(ratings) if e.epsilon is not None]
        measure(one)
    assert [len(data) for data in shared] == [5 * 50, 20 * 50]


def test_a_promise_per_value_is_refused():
    every = Comparison(channels=("auto",), models=("dpss",), epsilons=("1",))
    with pytest.raises(RequestError, match="The guarantee of dpss is per value"):
        UserLevelComparison(epsilons=("1",), every=every)


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


@pytest.mark.usefixtures("few_sizes")
def test_the_verb_prints_one_table_and_refuses_a_plan_of_its_own(run, tmp_path, ratings):
    data = tmp_path / "made.csv"
    ratings.to_polars().write_csv(data)
    common = (
        "compare",
        data,
        "--scale",
        "1:5:1",
        "--person-epsilon",
        "2",
        "--model",
        "bias",
        "--channel",
        "randomized-response",
    )
    status, printed, said = run(*common, "--report", tmp_path / "out.html")
    assert status == 0, said
    assert "epsilon per user" in printed
    assert "The plan rated is excluded" in printed
    assert "Epsilon = 2 per user, delta = 1e-06, trusting nobody" in printed
    assert "randomized-response, sample" in (tmp_path / "out.html").read_text()
    status, _, said = run(*common, "--plan", "rated")
    assert status != 0
    assert "--person-epsilon sets plan" in said


def test_shuffled_messages_are_compared_at_the_same_epsilon(run, tmp_path):
    data = tmp_path / "made.csv"
    synthetic(300, 60, 6_000, rng=2).to_polars().write_csv(data)
    common = ("compare", data, "--implicit", "--plan", "shuffled:10", "--model", "dp-popularity")
    status, printed, said = run(
        *common, "--person-epsilon", "3", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert status == 0, said
    assert "shuffled:10 per user" in printed
    assert "Epsilon = 3 per user, delta = 1e-06, trusting the shuffler" in printed
    rows = json.loads((tmp_path / "out.json").read_text())
    assert {(row["model"], row["plan"], row["epsilon"]) for row in rows if row["epsilon"]} == {
        ("shuffled-ease", "shuffled:10", 3.0),
        ("shuffled-popularity", "shuffled:10", 3.0),
        ("dp-popularity", "curator", 3.0),
    }
    shuffled = [row for row in rows if row["plan"] == "shuffled:10"]
    empty = {row["model"]: row["empty_epsilon"] for row in shuffled}
    assert all(0 < each < 3 for each in empty.values())  # of the certificate, which is computed
    assert f"Against an empty profile, epsilon = {max(empty.values()):g} per user." in printed
    assert not any("empty_epsilon" in row for row in rows if row not in shuffled)
    table = tomllib.loads((tmp_path / "out.toml").read_text())["compare"]
    assert table["plan"] == "shuffled:10"
    status, _, said = run("compare", tmp_path / "out.toml", "--json", tmp_path / "again.json")
    assert status == 0, said


def test_star_ratings_are_compared_with_signed_messages(run, tmp_path):
    data = tmp_path / "made.csv"
    synthetic(300, 60, 6_000, rng=2).to_polars().write_csv(data)
    status, printed, said = run(
        "compare", data, "--scale", "1:5:1", "--plan", "shuffled:10", "--model", "dp-covariance",
        "--person-epsilon", "3", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert status == 0, said
    assert "RMSE, mean over splits" in printed
    rows = json.loads((tmp_path / "out.json").read_text())
    assert {(row["model"], row["plan"], row["trust"]) for row in rows if row["epsilon"]} == {
        ("shuffled-covariance", "shuffled:10", "shuffler"),
        ("shuffled-item-mean", "shuffled:10", "shuffler"),
        ("dp-covariance", "curator", "curator"),
    }
    assert all(row["rmse"] for row in rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--plan", "shuffled:10"), "shuffled:10 requires --person-epsilon"),
        (("--plan", "shuffled:0", "--person-epsilon", "1"), "an M of at least 1"),
        (("--plan", "shuffled:9", "--cap", "3", "--person-epsilon", "1"), "leave out --cap"),
    ],
)
def test_shuffled_messages_have_an_epsilon_per_user_only(run, tmp_path, options, words):
    data = tmp_path / "made.csv"
    synthetic(50, 42, 1000, rng=2).to_polars().write_csv(data)
    status, _, said = run("compare", data, "--implicit", *options)
    assert status != 0
    assert words in said
