"""The plan of shuffled messages: its rounds attain epsilon, whatever head is chosen."""

from dataclasses import replace

import pytest

from tacit.collection.shuffled_plan import ShuffledPlan
from tacit.errors import CertificateError, RequestError
from tacit.privacy.shuffled_certificate import ShuffledCertificate

PLAN = ShuffledPlan(
    messages=30, items=500, epsilon="2", delta="1e-7", bundles=100_000, honest="0.8"
)


@pytest.mark.parametrize(
    "head", [80, *(pytest.param(n, marks=pytest.mark.long) for n in (PLAN.least_head, 300))]
)
def test_rounds_of_any_head_attain_epsilon(head):
    rounds = PLAN.item_round(), PLAN.pair_round(head)
    certificate = PLAN.certificate(rounds)
    assert (certificate.replaced, certificate.bundles, certificate.devices) == (
        "2",
        100_000,
        80_000,
    )
    computed = ShuffledCertificate.of(rounds, bundles=100_000, honest="0.8", delta="1e-7")
    assert float(computed.replaced) <= 2
    assert head < 300 or float(computed.replaced) > 1.9
    assert certificate.empty == computed.empty


def test_a_single_round_attains_epsilon_with_fewer_dummies():
    only = PLAN.only_round()
    assert PLAN.certificate([only]).replaced == "2"
    assert only.dummies < PLAN.item_round().dummies / 5


def test_rounds_with_fewer_dummies_are_refused():
    pairs = PLAN.pair_round(300)
    fewer = replace(pairs, dummies=pairs.dummies * 4 // 5)
    with pytest.raises(CertificateError, match="send more dummies"):
        PLAN.certificate([PLAN.item_round(), fewer])


def test_least_head_has_twenty_buckets_per_message():
    n = PLAN.least_head
    assert n * (n - 1) // 2 < 20 * 30 <= n * (n + 1) // 2


@pytest.mark.parametrize("dummies", [1, 20, 200, 10_000])
def test_largest_head_has_at_most_the_dummies(dummies):
    size = PLAN.largest_head(dummies)
    if size:
        assert PLAN.pair_round(size).dummies <= dummies
    next_size = max(size + 1, PLAN.least_head)
    assert size == 500 or PLAN.pair_round(next_size).dummies > dummies


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"messages": 0}, "messages must be an integer of at least 1"),
        ({"items": 0}, "items must be an integer of at least 1"),
        ({"epsilon": "none"}, "epsilon must be a positive decimal"),
        ({"delta": "1e-6"}, "delta must be at most 1e-7, .* bundles, 100000, got 1e-6"),
        ({"delta": "0"}, "delta must be above 0"),
        ({"honest": "2"}, "honest must be above 0 and at most 1"),
    ],
)
def test_invalid_terms_are_refused(changes, words):
    with pytest.raises(RequestError, match=words):
        replace(PLAN, **changes)
