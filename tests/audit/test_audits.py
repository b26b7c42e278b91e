"""Audits: exact to twenty digits; sampled with power, so that a planted fault is convicted."""

import math
from dataclasses import replace
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from tacit.audit.channel_audits import audit, audit_samples, audit_table, log_odds_bound
from tacit.channels import MECHANISMS, compile_channel
from tacit.channels.table import Channel
from tacit.errors import RequestError
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
HOTTER = {"0.5": "0.55", "1": "1.1", "2": "2.2", "4": "4.4"}
# Its most telling symbol is rare: the smaller epsilon, the more draws a verdict needs.
DRAWS = {"bounded-laplace": {"0.5": 12_000_000, "1": 4_000_000, "2": 2_000_000}}


def test_exact_audit_of_a_table_by_hand():
    channel = Channel(STARS.levels[:2], STARS.levels[:2], ((3, 1), (1, 3)), "1.2", word_bits=2)
    found = audit_table(channel)
    assert found.epsilon == Decimal("1.09861228866810969140")
    assert found.loss == Decimal("0.10138771133189030860")
    assert found.pair == ("1", "2")
    assert found.symbol == 0
    assert found.sentence.endswith(
        "below its claim 1.2: symbol 0 is the strongest evidence for 1 over 2."
    )
    assert "ABOVE its claim 1:" in audit_table(replace(channel, epsilon="1")).sentence


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", HOTTER)
def test_randomized_response_is_audited_within_five_percent(epsilon):
    channel = compile_channel("randomized-response", epsilon=epsilon, scale=STARS)
    found = audit(channel, draws=2_000_000)
    assert 0.95 * float(epsilon) <= found.bound <= float(epsilon)
    assert not found.refutes(epsilon)


FEW = {"1", "4"}
"""The epsilons of every mechanism in the default run; randomized response has all of them."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        pytest.param(name, epsilon, marks=[] if kept else [pytest.mark.long])
        for name, epsilon in product(MECHANISMS, HOTTER)
        for kept in (epsilon in FEW or name == "randomized-response",)
    ],
)
def test_a_tenth_too_much_is_convicted(name, epsilon):
    draws = DRAWS.get(name, {}).get(epsilon, 1_000_000)
    hot = compile_channel(name, epsilon=HOTTER[epsilon], scale=STARS)
    assert audit(hot, draws=draws).refutes(epsilon)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", list(MECHANISMS))
def test_honest_channels_are_not_convicted(name):
    for epsilon in HOTTER:
        channel = compile_channel(name, epsilon=epsilon, scale=STARS)
        assert audit(channel, draws=200_000).bound <= float(epsilon)


def wrong_k(rng, truth, size):
    """Randomized response that divides by the wrong number of answers."""
    keep = math.e / (math.e + 2)
    lies = (truth + rng.integers(1, 5, size)) % 5
    return np.where(rng.random(size) < keep, truth, lies)


def forgets_to_lie(rng, truth, size):
    honest = rng.random(size) < math.e / (math.e + 4) + 0.05
    return np.where(honest, truth, rng.integers(0, 5, size))


def clamps_after(rng, truth, size):
    """Noise of half the scale: sensitivity taken for half the range."""
    noise = rng.laplace(0, 2, size)
    return np.clip(np.round(truth + noise), 0, 4).astype(int)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", [wrong_k, forgets_to_lie, clamps_after])
def test_planted_faults_at_claim_1_are_convicted(fault):
    rng = np.random.default_rng(8)
    samples = [fault(rng, truth, 400_000) for truth in range(5)]
    assert audit_samples(samples, 5, alpha=1e-6).refutes("1")


def test_a_blind_sampler_shows_nothing():
    rng = np.random.default_rng(9)
    found = audit_samples([rng.integers(0, 5, 100_000) for _ in range(5)], 5, alpha=1e-6)
    assert found.bound < 0.05


def test_the_bound_is_clopper_pearson():
    bound = log_odds_bound([0, 5, 10], [10, 5, 0], 10, 0.025)
    # Ends for 5 of 10 at 95 %: .1871 and .8129; for 10 of 10 the lower is .6915.
    assert bound[1] == pytest.approx(math.log(0.1871 / 0.8129), abs=1e-3)
    assert bound[2] == pytest.approx(math.log(0.6915 / 0.3085), abs=1e-3)
    assert bound[0] < -100


def test_too_few_draws_are_refused():
    with pytest.raises(RequestError, match="must have at least 2 rows"):
        audit_samples([np.array([0])] * 5, 5, alpha=0.01)
