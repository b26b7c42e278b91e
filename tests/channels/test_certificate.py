"""Every table keeps its epsilon, in integers; the verifier is short, and nothing gets past it."""

import ast
import random
import sys
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.audit.channel_audits import audit_table
from tacit.channels import certificate, compile_channel
from tacit.channels.certificate import certify, exp_lower, flaw
from tacit.channels.table import Channel
from tacit.errors import CertificateError
from tacit.scale import RatingScale

STARS = RatingScale.parse("1:5:1")
SCALES = ("1:5:1", "0.5:5:0.5", "-10:10:0.5", "0:1:1")


def epsilons(count: int) -> list[str]:
    chance = random.Random(2)
    return [f"{chance.uniform(0.01, 8):.6f}" for _ in range(count)]


def verify_all(member, wanted: list[str]) -> None:
    for epsilon in wanted:
        for word_bits in (16, 32, 64):
            channel = member(epsilon, word_bits=word_bits)
            certify(channel)
            loss = audit_table(channel).loss
            assert loss >= 0
            assert word_bits < 64 or loss <= Decimal("1e-12"), epsilon


@pytest.mark.sampled(4)
def test_every_table_is_certified(member):
    verify_all(member, epsilons(6))


@pytest.mark.long
def test_every_table_is_certified_at_300_epsilons(member):
    verify_all(member, epsilons(300))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_is_certified(member, scale):
    channel = member("1.3", RatingScale.parse(scale))
    certify(channel)
    assert 0 <= audit_table(channel).loss <= Decimal("1e-12")


@pytest.mark.sampled(4)
def test_extreme_epsilons_are_certified(member):
    for epsilon in ("0.000001", "16"):
        assert audit_table(member(epsilon)).loss <= Decimal("2e-12")


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "7.999", "16"])
def test_the_rational_stays_below_the_exponential(epsilon):
    with localcontext(prec=60):
        exact = Decimal(epsilon).exp()
        low = exp_lower(Fraction(epsilon))
        assert Fraction(exact) * (1 - Fraction(1, 10**28)) < low
        assert low <= Fraction(exact) * (1 + Fraction(1, 10**58))


def test_one_unit_too_many_is_refused():
    channel = compile_channel("randomized-response", epsilon="1", scale=STARS)
    true, false = channel.weights[0][:2]
    greedy = tuple(tuple(true + 4 if x == y else false - 1 for y in range(5)) for x in range(5))
    with pytest.raises(CertificateError, match=r"Symbol 0 has likelihood ratio .* above e\^1"):
        certify(replace(channel, weights=greedy))


HALF = (1 << 63, 1 << 63)
FORGED = {
    "is not a plain decimal": ((HALF, HALF), 64, "1e3"),
    "'-1' is not a plain": ((HALF, HALF), 64, "-1"),
    "'nan' is not": ((HALF, HALF), 64, "nan"),
    "must have 1 to 64 bits": ((HALF, HALF), 65, "1"),
    "is empty": ((), 64, "1"),
    "or its rows differ": ((HALF, (1 << 64,)), 64, "1"),
    "must be positive integers": (((0, 1 << 64), HALF), 64, "1"),
    "Weights must be": (((2.0**63, 2.0**63), HALF), 64, "1"),
    "Row 1 of the table sums to": ((HALF, (1, 1)), 64, "1"),
    "Symbol 0 has likelihood ratio 3/1, above e^1;": (((1, 3), (3, 1)), 2, "1"),
    "The table is empty": (((), ()), 64, "1"),
}


@pytest.mark.parametrize("sentence", FORGED)
def test_forged_tables_are_refused_with_the_reason(sentence):
    found = flaw(*FORGED[sentence])
    assert found is not None
    assert sentence in found


def test_a_table_that_tells_nothing_holds_at_zero():
    certify(Channel(STARS.levels[:2], STARS.levels[:2], (HALF, HALF), "0"))


def test_the_smallest_tables_hold():
    assert flaw(((1, 1), (1, 1)), 1, "0") is None
    assert flaw(((2,),), 1, "0") is None


def test_the_verifier_is_short_and_needs_the_standard_library_alone():
    source = Path(certificate.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 60
    imported = {
        name
        for node in ast.walk(ast.parse(source))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    outside = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    # One names the error it raises, the other is read by the type checker only.
    assert outside == {"tacit.errors", "tacit.channels.table"}
    constants = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    assert not any(isinstance(constant.value, float) for constant in constants)
    assert "float" not in source
