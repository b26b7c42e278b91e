"""The plan of shuffled messages: its rounds attain epsilon, whatever head is chosen."""

from dataclasses import replace

import pytest

from tacit.collection.shuffled.plan import ShuffledPlan
from tacit.errors import CertificateError, RequestError
from tacit.privacy.shuffled_certificate import ShuffledCertificate

PLAN = ShuffledPlan(
    messages=30, items=500, epsilon="2", delta="1e-7", bundles=100_000, honest="0.8"
)

SIGNED = replace(PLAN, signed=True)


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


def test_a_sign_doubles_the_buckets_and_leaves_the_bound():
    rounds = SIGNED.item_round(), SIGNED.pair_round(60)
    assert [one.buckets for one in rounds] == [2 * 500 + 300, 60 * 59 + 300]
    assert [one.messages for one in rounds] == [PLAN.item_round().messages, 30]
    computed = ShuffledCertificate.of(rounds, bundles=100_000, honest="0.8", delta="1e-7")
    assert 1.9 < float(computed.replaced) <= 2
    assert SIGNED.certificate([SIGNED.only_round()]).replaced == "2"


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
    for plan in (SIGNED, replace(SIGNED, messages=1), replace(SIGNED, messages=16)):
        n = plan.least_head
        assert n >= 2
        assert n == 2 or plan.pair_buckets(n - 1) < 20 * plan.messages
        assert plan.pair_buckets(n) >= 20 * plan.messages


@pytest.mark.parametrize("dummies", [1, 20, 200, 10_000])
@pytest.mark.parametrize("plan", [PLAN, SIGNED], ids=["unsigned", "signed"])
def test_largest_head_has_at_most_the_dummies(plan, dummies):
    size = plan.largest_head(dummies)
    if size:
        assert plan.pair_round(size).dummies <= dummies
    next_size = max(size + 1, plan.least_head)
    assert size == 500 or plan.pair_round(next_size).dummies > dummies


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
