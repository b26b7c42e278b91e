"""From a slot to a person: every pair of small profiles, and the tables' own privacy loss."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.channels import compile_channel
from tacit.channels.losses import changed_slot_loss, profile_loss, slot_losses
from tacit.collection.composition import composed_epsilon, curve, tight_epsilon
from tacit.errors import RequestError
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
losses = st.integers(min_value=0, max_value=8).map(Decimal)


def pair_loss(one, other, between, rated, unrated):
    """Level by level: 0 is missing."""
    kinds = {(True, True): between, (True, False): rated, (False, True): unrated}
    return sum((kinds[x > 0, y > 0] for x, y in zip(one, other, strict=True) if x != y), Decimal(0))


def profiles(slots, cap):
    every = itertools.product(range(3), repeat=slots)
    return [profile for profile in every if np.count_nonzero(profile) <= cap]


@settings(max_examples=25)
@given(losses, losses, losses)
def test_a_profile_costs_what_the_worst_pair_costs(between, rated, unrated):
    for slots, cap in itertools.product(range(4), range(5)):
        every = profiles(slots, cap)
        worst = max(
            pair_loss(one, other, between, rated, unrated) for one in every for other in every
        )
        found = profile_loss(between=between, rated=rated, unrated=unrated, slots=slots, cap=cap)
        assert found == worst


def kept(profile, cap):
    """The first `cap` ratings: what a public order of the slots leaves."""
    rated = [slot for slot, level in enumerate(profile) if level][:cap]
    return tuple(level if slot in rated else 0 for slot, level in enumerate(profile))


def test_a_cap_makes_one_slot_dearer():
    """All profiles of 4 slots that differ in one, before a cap of 2 or 3 drops the rest."""
    between, rated, unrated = Decimal(5), Decimal(4), Decimal(2)
    for cap in (2, 3):
        worst = max(
            pair_loss(kept(one, cap), kept(other, cap), between, rated, unrated)
            for one in profiles(4, 4)
            for other in profiles(4, 4)
            if sum(x != y for x, y in zip(one, other, strict=True)) == 1
        )
        assert worst == changed_slot_loss(between=between, rated=rated, unrated=unrated) == 6


@pytest.mark.parametrize(
    ("name", "factor"), [("randomized-response", 2), ("modified-laplace", Decimal("1.5"))]
)
def test_the_constants_of_zhengs_mechanisms(name, factor):
    channel = compile_channel(name, epsilon="0.7", scale=STARS, missing=True)
    found = vars(slot_losses(channel))
    for cap in (1, 20, 50):
        assert profile_loss(**found, slots=100, cap=cap) == factor * cap * Decimal("0.7")
    assert profile_loss(**found, slots=100, cap=100) == 70


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("epsilon", "cells", "expected"),
    [("0.1", 100, 2.7), ("0.25", 50, 5.2), ("0.5", 20, 7.0), ("0.5", 100, 19.0), ("1", 50, 31.7)],
)
def test_tight_figures_of_randomized_response(epsilon, cells, expected):
    """Published figures for six answers at delta = 1e-6, to their digit."""
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=STARS, missing=True)
    found = tight_epsilon(channel.likelihood, slots=10_000, cap=cells // 2, delta=1e-6)
    assert found == pytest.approx(expected, abs=0.06)
    assert found <= cells * float(epsilon)


def exact_delta(table, one, other, epsilon):
    """sum over all answer vectors of max(0, P - e^epsilon Q): the definition, laid out."""
    total = 0.0
    for answers in itertools.product(range(len(table[0])), repeat=len(one)):
        p = math.prod(table[x][y] for x, y in zip(one, answers, strict=True))
        q = math.prod(table[x][y] for x, y in zip(other, answers, strict=True))
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["randomized-response", "optimal", "modified-laplace"])
@pytest.mark.parametrize(("slots", "cap"), [(4, 2), (3, 2), (4, 1)])
def test_no_pair_of_profiles_exceeds_the_tight_figure(name, slots, cap):
    """Every pair of profiles over three levels, every vector of answers; and hardly above it."""
    small = RatingScale.parse("1:2:1")
    options = {"symbols": 6} if name == "modified-laplace" else {}
    channel = compile_channel(name, epsilon="1", scale=small, missing=True, **options)
    delta, every = 0.02, profiles(slots, cap)
    bound = tight_epsilon(channel.likelihood, slots=slots, cap=cap, delta=delta)
    pairs = [(one, other) for one in every for other in every if one != other]
    chosen = pairs if len(channel.outputs) < 4 else pairs[:: len(pairs) // 40]
    worst = max(exact_delta(channel.likelihood, one, other, bound) for one, other in chosen)
    assert worst <= delta * (1 + 1e-6)
    if name == "randomized-response":
        near = max(exact_delta(channel.likelihood, *pair, bound - 0.1) for pair in pairs)
        assert near > delta


UNLIKE = {
    "the lowest level alone": ((0.4, 0.3, 0.3), (0.8, 0.1, 0.1), (0.4, 0.3, 0.3)),
    "the value and not presence": ((0.5, 0.5), (0.97, 0.03), (0.03, 0.97)),
    "presence and not the value": ((0.8, 0.2), (0.3, 0.7), (0.3, 0.7)),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("table", UNLIKE.values(), ids=UNLIKE)
@pytest.mark.parametrize(("slots", "cap"), [(4, 2), (3, 2), (2, 1), (1, 1)])
def test_tables_that_tell_one_thing_alone_keep_their_figure_too(table, slots, cap):
    every, delta = profiles(slots, cap), 0.02
    pairs = [(one, other) for one in every for other in every if one != other]
    bound = tight_epsilon(table, slots=slots, cap=cap, delta=delta)
    assert max(exact_delta(table, *pair, bound) for pair in pairs) <= delta * (1 + 1e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["randomized-response", "optimal", "modified-laplace"])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "16"])
def test_one_slot_at_a_delta_of_almost_0_costs_what_its_table_does(name, epsilon):
    channel = compile_channel(name, epsilon=epsilon, scale=STARS, missing=True)
    found = tight_epsilon(channel.likelihood, slots=1, cap=1, delta=1e-14)
    assert found == pytest.approx(channel.exact_epsilon, rel=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", ["0.000000001", "1", "16"])
def test_slots_beyond_two_profiles_change_no_figure(epsilon):
    """From 2 cap slots on, two people cannot differ in more; each direction keeps its price."""
    channel = compile_channel("modified-laplace", epsilon=epsilon, scale=STARS)
    few, many = (
        tight_epsilon(channel.likelihood, slots=slots, cap=20, delta=1e-12) for slots in (40, 9999)
    )
    assert few == many <= 1.5 * 20 * float(epsilon)


def test_a_table_that_tells_nothing_costs_nothing():
    assert tight_epsilon([[0.5, 0.5]] * 3, slots=9, cap=2, delta=1e-6) == 0


def test_forgetting_a_direction_would_be_refuted():
    """The curve of rated against missing alone understates modified Laplace's two directions."""
    channel = compile_channel(
        "modified-laplace", epsilon="1", scale=RatingScale.parse("1:2:1"), symbols=6
    )
    table = np.array(channel.likelihood)
    mild = curve(table[:1], table[1:], 1 / 512, 513)
    claimed = composed_epsilon(mild, 2, 0.02)
    assert exact_delta(channel.likelihood, (1, 0), (0, 2), claimed) > 0.03


@pytest.mark.parametrize("delta", [0, 1])
def test_a_delta_has_to_be_a_probability(delta):
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS, missing=True)
    with pytest.raises(
        RequestError, match=f"delta must be between 0 and 1, such as 1e-6, got {delta}"
    ):
        tight_epsilon(channel.likelihood, slots=5, cap=5, delta=delta)


def test_without_the_accountant_there_is_no_figure(monkeypatch):
    monkeypatch.setattr("tacit.collection.composition.find_spec", lambda name: None)
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS, missing=True)
    assert tight_epsilon(channel.likelihood, slots=5, cap=5, delta=1e-6) is None
