"""A certificate of shuffled messages is verified from its numbers, and states its conditions."""

from dataclasses import replace

import pytest

from tacit.errors import CertificateError, RequestError
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.shuffled_certificate import ShuffledCertificate
from tacit.privacy.shuffled_messages import ShuffledRound, calibrated

SHAPES = (ShuffledRound(buckets=400, messages=5), ShuffledRound(buckets=1_275, messages=10))


@pytest.fixture(scope="module")
def certificate() -> ShuffledCertificate:
    rounds = calibrated(SHAPES, [0.1, 0.9], devices=8_000, epsilon=2, delta=1e-6)
    return ShuffledCertificate.of(rounds, bundles=10_000, honest="0.8", delta="1e-6")


def test_computed_epsilons_are_proved(certificate):
    certificate.verify()
    assert certificate.devices == 8_000
    assert float(certificate.empty) < float(certificate.replaced) <= 2.001


def test_rounds_may_be_a_list(certificate):
    replace(certificate, rounds=list(certificate.rounds)).verify()


def fewer_dummies(certificate: ShuffledCertificate) -> ShuffledCertificate:
    rounds = [replace(one, dummies=one.dummies * 4 // 5) for one in certificate.rounds]
    return replace(certificate, rounds=tuple(rounds))


def more_messages(certificate: ShuffledCertificate) -> ShuffledCertificate:
    first, second = certificate.rounds
    return replace(certificate, rounds=(first, replace(second, messages=second.messages + 2)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "changed",
    [
        fewer_dummies,
        more_messages,
        lambda one: replace(one, honest="0.7"),
        lambda one: replace(one, bundles=9_000),
        lambda one: replace(one, delta="5e-7"),
        lambda one: replace(one, replaced="1.9"),
        lambda one: replace(one, empty=str(float(one.empty) - 0.05)),
        lambda one: replace(one, rounds=one.rounds * 2),
    ],
)
def test_any_weaker_number_refutes_the_claim(certificate, changed):
    with pytest.raises(CertificateError, match="send more dummies or claim a larger epsilon"):
        changed(certificate).verify()


def test_delta_is_bounded_by_the_number_of_bundles(certificate):
    with pytest.raises(CertificateError, match=r"at most 0.01 / 10000 bundles, got 2e-6"):
        replace(certificate, delta="2e-6").verify()


def test_honest_devices_are_rounded_down_exactly(certificate):
    """No product of decimals is rounded up to an integer, whatever their digits."""
    nearly = replace(certificate, honest="0." + "9" * 40)
    assert nearly.devices == 9_999
    assert replace(certificate, honest="1").devices == 10_000


def test_guarantee_names_both_epsilons_and_its_conditions(certificate):
    guarantee = certificate.guarantee
    assert (guarantee.epsilon, guarantee.delta) == (certificate.replaced, "1e-6")
    assert (guarantee.unit, guarantee.trust, guarantee.exact) == ("user", "shuffler", False)
    assert guarantee.empty == certificate.empty
    smaller = f"Against an empty profile, epsilon = {certificate.empty} per user."
    assert smaller in guarantee.sentence
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee
    assert "trusting the shuffler" in guarantee.sentence
    sentence = certificate.sentence
    assert f"Epsilon = {certificate.replaced} per user (profile replaced" in sentence
    assert f"{certificate.empty} per user (against an empty profile)" in sentence
    assert "at least 8000 of 10000 bundles" in sentence


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"honest": "1.2"}, "honest must be above 0 and at most 1, got 1.2"),
        ({"honest": "most"}, "honest must be a decimal string such as 0.8, got 'most'"),
        ({"delta": "0"}, "delta must be above 0"),
        ({"bundles": 0}, "bundles must be an integer of at least 1"),
        ({"rounds": ()}, "at least one round"),
        ({"replaced": "-1"}, "epsilon must be a positive decimal"),
    ],
)
def test_invalid_numbers_are_refused(certificate, changes, words):
    with pytest.raises(RequestError, match=words):
        replace(certificate, **changes)
