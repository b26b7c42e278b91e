"""Channels that hide presence: Zheng's two mechanisms as they are printed, and the best table."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.audit.channel_audits import audit
from tacit.channels import choose_channel, compile_channel, fisher_information, serves
from tacit.channels.certificate import exp_lower
from tacit.channels.laplace import ModifiedLaplace
from tacit.channels.losses import SlotLosses, proved_loss, slot_losses
from tacit.errors import RequestError
from tacit.scale import RATED_SHARE, RatingScale

STARS = RatingScale.parse("1:5:1")
HALVES = RatingScale.parse("0.5:5:0.5")
NAMES = ("randomized-response", "modified-laplace", "optimal")


def hiding(name, epsilon, scale=STARS, **more):
    return compile_channel(name, epsilon=epsilon, scale=scale, missing=True, **more)


@pytest.mark.parametrize("scale", [STARS, HALVES, RatingScale.parse("0:1:1")])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
def test_losses_of_modified_laplace_one_way_and_the_other(epsilon, scale):
    """Zheng's Theorem 1, slot by slot: epsilon, epsilon, and epsilon / 2 for "missing"."""
    found = slot_losses(hiding("modified-laplace", epsilon, scale))
    whole = Decimal(epsilon)
    assert found == SlotLosses(between=whole, rated=whole, unrated=whole / 2)
    assert found.slot == whole


@pytest.mark.parametrize("name", ["randomized-response", "optimal"])
def test_losses_of_randomized_response_are_epsilon_every_way(name):
    assert slot_losses(hiding(name, "1.5")) == SlotLosses(*[Decimal("1.5")] * 3)


def test_losses_need_a_slot():
    with pytest.raises(RequestError, match="compile one with missing"):
        slot_losses(compile_channel("optimal", epsilon="1", scale=STARS))


@given(st.fractions(min_value=Fraction(1, 10), max_value=10**6))
def test_a_proved_loss_is_above_the_ratio_and_hardly(ratio):
    loss = proved_loss(ratio)
    assert exp_lower(Fraction(loss)) >= ratio or (loss == 0 and ratio <= 1)
    assert loss == 0 or exp_lower(Fraction(loss - Decimal("2e-9"))) < ratio


def test_a_ratio_above_e_to_a_loss_by_less_than_floats_tell_costs_one_place_more():
    ratio = exp_lower(Fraction("0.5"), terms=99) + Fraction(1, 10**40)
    assert proved_loss(ratio) == Decimal("0.500000001")


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_modified_laplace_is_the_four_cases_of_its_definition(epsilon):
    """A coin of K, noise of scale 2 / epsilon on [-1, 1], and the cells of the printed law."""
    mechanism = ModifiedLaplace(epsilon=epsilon, scale=STARS)
    channel = mechanism.table()
    kept = math.exp(float(epsilon) / 2) / (1 + math.exp(float(epsilon) / 2))
    outputs = np.array([float(y) for y in channel.outputs[1:]])
    b = 2 / float(epsilon) * 2  # two stars to a unit
    gap = np.diff(outputs)[len(outputs) // 2]
    inner = (outputs >= 1 - 1e-9) & (outputs <= 5 + 1e-9)
    for row, (true, coin) in enumerate([(3, 1 - kept), *((r, kept) for r in STARS.values)]):
        shares = np.array(channel.likelihood[row])
        assert shares[0] == pytest.approx(1 - coin, abs=1e-12)
        noise = np.exp(-np.abs(outputs[inner] - true) / b)
        discrete = noise * (1 - math.exp(-gap / b)) / (1 + math.exp(-gap / b))
        assert shares[1:][inner] == pytest.approx(coin * discrete, rel=1e-9)
        continuous = [
            mechanism.below(y + gap / 2, true) - mechanism.below(y - gap / 2, true)
            for y in outputs[inner]
        ]
        assert shares[1:][inner] == pytest.approx(coin * np.array(continuous), rel=gap / b / 2)
        assert shares[1:] @ outputs / coin == pytest.approx(true, abs=1e-5)


def test_modified_laplace_cells_are_not_too_rare_and_hold_the_middle():
    for scale in (STARS, HALVES, RatingScale.parse("-10:10:0.5")):
        for epsilon in ("0.1", "2", "8"):
            channel = hiding("modified-laplace", epsilon, scale)
            assert len(channel.outputs) <= 64
            assert (scale.low + scale.high) / 2 in channel.outputs
            assert min(map(min, channel.weights)) >= 1 << (64 - 24)


def test_a_grid_of_few_points_holds_the_middle_of_an_even_number_of_levels():
    """Where nothing is rated the noise starts from it: a grid of the levels alone would lean."""
    for scale, symbols in ((HALVES, 24), (RatingScale.parse("1:2:1"), 6)):
        channel = ModifiedLaplace(epsilon="1", scale=scale, symbols=symbols).table()
        assert (scale.low + scale.high) / 2 in channel.outputs
        reported = channel.weights[0][1:]
        assert max(abs(a - b) for a, b in zip(reported, reversed(reported), strict=True)) < 1 << 12


def test_modified_laplace_is_refused_where_presence_is_public():
    with pytest.raises(RequestError, match="use laplace if presence is public"):
        ModifiedLaplace(epsilon="1", scale=STARS, missing=False)


def test_randomized_response_is_definition_3():
    channel = hiding("randomized-response", "1")
    table = np.array(channel.likelihood)
    assert table.sum(1) == pytest.approx(np.ones(6))
    assert np.diag(table) == pytest.approx(np.full(6, math.e / (math.e + 5)))
    assert table[~np.eye(6, dtype=bool)] == pytest.approx(np.full(30, 1 / (math.e + 5)))
    assert np.log(table.max() / table.min()) == pytest.approx(1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", ["1", "2", "4"])
def test_audits_acquit_an_honest_table_and_convict_a_tenth_too_much(name, epsilon):
    assert audit(hiding(name, epsilon), draws=200_000).bound <= float(epsilon)
    hot = hiding(name, f"{float(epsilon) * 1.1:.1f}")
    draws = 4_000_000 if (name, epsilon) == ("modified-laplace", "1") else 1_000_000
    assert audit(hot, draws=draws).refutes(epsilon)


def test_audits_watch_the_row_of_missing_too():
    """The levels' rows are honest; only a slot without a rating answers too truly."""
    honest, hot = hiding("randomized-response", "1"), hiding("randomized-response", "1.3")
    faulty = replace(honest, weights=(hot.weights[0], *honest.weights[1:]))
    assert audit(faulty, draws=1_000_000).refutes("1")


@pytest.mark.parametrize("objective", ["variance", "information"])
@pytest.mark.parametrize("epsilon", ["0.5", "2", "4", "6"])
def test_optimal_beats_both_of_zhengs_mechanisms_at_its_objective(objective, epsilon):
    best = gain(hiding("optimal", epsilon, objective=objective), objective)
    for name in NAMES[:2]:
        assert gain(hiding(name, epsilon), objective) <= best * (1 + 1e-6)
    other = {"variance": "information", "information": "variance"}[objective]
    assert gain(hiding("optimal", epsilon, objective=other), objective) <= best * (1 + 1e-3)


def gain(channel, objective):
    if objective == "information":
        return fisher_information(channel)
    table = np.array(channel.likelihood)
    prior = np.array([1 - RATED_SHARE, *[RATED_SHARE / 5] * 5])[:, None]
    distance = np.array([0, -2, -1, 0, 1, 2])[:, None]
    return float((((prior * distance * table).sum(0)) ** 2 / (prior * table).sum(0)).sum())


@pytest.mark.parametrize("scale", [STARS, HALVES, RatingScale.parse("-10:10:0.5")])
def test_missing_says_nothing_about_the_value(scale):
    for name in NAMES:
        silent = [row[0] for row in hiding(name, "2", scale).weights[1:]]
        assert max(silent) - min(silent) <= 4 * scale.n_levels
        assert hiding(name, "2", scale).outputs.count(None) == 1


def test_auto_picks_by_information_per_slot():
    for epsilon in ("0.5", "2", "4", "8"):
        name, channel = choose_channel(epsilon=epsilon, scale=STARS, missing=True)
        assert channel.missing
        told = {other: fisher_information(hiding(other, epsilon)) for other in NAMES}
        assert fisher_information(channel) >= max(told.values()) * (1 - 1e-5)
        assert name == ("randomized-response" if epsilon == "8" else "optimal")


def test_information_per_slot_is_by_hand():
    """One bit, density .5: q = (c_missing + share c_1 + (1 - share) c_2) / 2."""
    channel = hiding("randomized-response", "1", RatingScale.parse("0:1:1"))
    table = np.array(channel.likelihood)
    theta, sigma = 0.6, 0.2125
    share = 0.5 * math.erfc((0.5 - theta) / sigma / math.sqrt(2))
    slope = math.exp(-(((0.5 - theta) / sigma) ** 2) / 2) / math.sqrt(2 * math.pi) / sigma
    q = 0.5 * table[0] + 0.5 * ((1 - share) * table[1] + share * table[2])
    dq = 0.5 * slope * (table[2] - table[1])
    expected = (dq**2 / q).sum()
    assert fisher_information(channel, [theta], density=0.5) == pytest.approx(expected)


def test_which_channels_protect_presence():
    from tacit.channels import MECHANISMS

    assert {name for name in MECHANISMS if serves(name, missing=True)} == set(NAMES)
    assert set(MECHANISMS) - {name for name in MECHANISMS if serves(name, missing=False)} == {
        "modified-laplace"
    }
    with pytest.raises(RequestError, match=r"density, .*, must be between 0 and 1, got 1\.0"):
        hiding("optimal", "1", density=1.0)
