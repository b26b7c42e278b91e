"""The ledger against fractions: never below what was spent, never above the limit."""

import random
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

import pytest

from tacit.errors import BudgetError, RequestError
from tacit.privacy.ledger import NANO, Ledger, nano, nats


def epsilon(chance):
    """A decimal of up to 12 places, often one that nano-epsilon cannot hold."""
    return f"{chance.randrange(4)}.{chance.randrange(10 ** chance.randrange(1, 13))}"


@pytest.mark.parametrize("lives", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_random_lives_equal_fractions(lives):
    chance = random.Random(7)
    for _ in range(lives):
        limit, true, pessimistic, refused = epsilon(chance), Fraction(0), Fraction(0), False
        ledger = Ledger(nano(limit))
        for price in (epsilon(chance) for _ in range(chance.randrange(1, 12))):
            whole = -(-Fraction(price) * NANO // 1) / Fraction(NANO)
            if pessimistic + whole <= Fraction(ledger.limit, NANO):
                ledger = ledger.debit(nano(price))
                true, pessimistic = true + Fraction(price), pessimistic + whole
            else:
                refused = True
                with pytest.raises(BudgetError):
                    ledger.debit(nano(price))
            assert Fraction(ledger.spent, NANO) == pessimistic >= true
            assert ledger.spent <= ledger.limit
        assert refused or true <= Fraction(limit) + Fraction(1, NANO)


def test_amounts_are_rounded_up_and_written_back():
    assert nano("0.1") * 10 == nano("1") == NANO
    assert nano("0.3333333331") == 333_333_334
    assert nats(nano("12.5")) == "12.5"
    assert nats(1) == "0.000000001"


def test_the_context_of_the_application_rounds_no_amount():
    with localcontext() as context:
        context.prec, context.rounding = 3, ROUND_FLOOR
        assert nano("1.004") == 1_004_000_000
        assert nano("1.0000000000000000000000000001") == NANO + 1
        assert nats(nano("123456.789")) == "123456.789"


def test_what_is_no_amount_is_refused():
    for amount in ("-1", "NaN", "Infinity", "abc", "1e10", "1e999999999"):
        with pytest.raises(RequestError, match="Epsilon must be a decimal"):
            nano(amount)
    with pytest.raises(RequestError, match="debit must be at least 0 nano-epsilon, got -1"):
        Ledger(5).debit(-1)


def test_the_refusal_says_what_is_left():
    with pytest.raises(
        BudgetError, match=r"costs epsilon = 2, but 1\.5 of your lifetime budget of 50"
    ):
        Ledger(nano("50"), nano("48.5")).debit(nano("2"))
    assert Ledger(limit=5, spent=9).left == 0
    assert Decimal(nats(Ledger(7).left)) * NANO == 7
