"""Lists made at home, against a twin in exact fractions and one in numpy."""

from array import array
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from list_models import Drawn, drawn

from tacit.device.list_profile import ListProfile
from tacit.privacy.guarantee import NO_PRIVACY
from tacit.wire.list_model import ListModel

SHAPES = [(0, 0), (3, 0), (0, 2), (0, 8), (3, 2), (9, 8)]


@st.composite
def people(draw) -> tuple[Drawn, list[int]]:
    """A model of 8 items, and somebody's, in any order, some twice and some unknown."""
    factors, neighbours = draw(st.sampled_from(SHAPES))
    made = drawn(8, factors, neighbours, draw(st.integers(0, 50)))
    own = draw(st.lists(st.sampled_from([*made.model.items, 7, -1]), max_size=12))
    return made, own if set(own) & set(made.model.items) else []


def exact(model: ListModel, own: list[int]) -> list[Fraction]:
    """Every score by the formula, with no rounding at all."""
    mine = [place for place, item in enumerate(model.items) if item in own]
    scores = [Fraction(value) for value in model.popularity]
    for j in range(len(scores)):
        for i in mine:
            if low := model.low_rank:
                pairs = zip(low.vector(i), low.spectrum, low.vector(j), strict=True)
                inner = sum(Fraction(v) * Fraction(w) * Fraction(u) for v, w, u in pairs)
                scores[j] += Fraction(low.own_scale[i]) * inner * Fraction(low.score_scale[j])
            scores[j] += Fraction(dict(zip(*model.weights_of(i), strict=True)).get(j, 0.0))
    return scores


@given(people())
def test_a_score_is_what_the_formula_says(person):
    made, own = person
    scores = ListProfile(made.model, own).scores
    assert scores == pytest.approx([float(one) for one in exact(made.model, own)], abs=1e-11)


@given(people())
def test_a_score_is_popularity_and_the_persons_row_times_the_weights(person):
    made, own = person
    row = np.isin(made.model.items, own).astype(float)
    wanted = np.array(made.model.popularity) + row @ made.weights
    assert ListProfile(made.model, own).scores == pytest.approx(wanted.tolist(), abs=1e-11)


@given(people(), st.randoms(use_true_random=False))
def test_the_order_of_own_items_and_unknown_ones_change_no_digit(person, random):
    made, own = person
    known = [item for item in dict.fromkeys(own) if item in made.model.items]
    random.shuffle(known)
    assert ListProfile(made.model, known).scores == ListProfile(made.model, own).scores


@given(people(), st.integers(0, 12))
def test_a_list_is_the_best_that_the_person_does_not_have(person, n):
    made, own = person
    profile = ListProfile(made.model, own)
    ranked = sorted(
        (-score, place) for place, score in enumerate(profile.scores)
        if made.model.items[place] not in own
    )  # fmt: skip
    wanted = [(made.model.items[place], -score) for score, place in ranked][:n]
    assert profile.recommend(n) == wanted


def test_ties_come_in_the_order_of_the_model():
    items = ("c", "a", "d", "b")
    model = ListModel(items, array("f", [1, 2, 2, 1]), NO_PRIVACY)
    best = ListProfile(model, []).recommend()
    assert best == [("a", 2), ("d", 2), ("c", 1), ("b", 1)]
    assert ListProfile(model, ["d", "c", "b", "a"]).recommend() == []


def test_a_user_without_items_gets_popular_ones_or_none():
    popular = ListModel(("a", "b"), array("f", [0, 3]), NO_PRIVACY)
    assert ListProfile(popular, []).recommend() == [("b", 3), ("a", 0)]
    alike = ListModel(("a", "b"), array("f", [0, 0]), NO_PRIVACY)
    assert ListProfile(alike, []).recommend() == []
    assert ListProfile(alike, ["a"]).recommend() == [("b", 0)]


def test_the_largest_numbers_that_a_model_holds_come_to_a_number():
    """2^127 singles and 65,504 halves: no score is infinite or NaN."""
    n, K = 3, 1024
    made = drawn(n, K, n).model
    low, near = made.low_rank, made.neighbours
    assert low is not None
    assert near is not None
    largest, halves = 1.5 * 2.0**127, np.full((n, K), 65504).astype("<f2").tobytes()
    low = type(low)(*(array("f", [largest] * count) for count in (n, n, K)), halves)
    model = ListModel(made.items, array("f", [largest] * n), NO_PRIVACY, low, near)
    scores = ListProfile(ListModel.from_bytes(model.to_bytes()), made.items).scores
    assert np.isfinite(scores).all()
    assert min(scores) > 1e120
