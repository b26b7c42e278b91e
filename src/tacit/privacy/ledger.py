"""The ledger: what a person has spent in their life, in whole nano-epsilon, and what is left.

Integers, and rounded up: no sum of floats can drift below what was really spent.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from numbers import Real
from typing import Self

from tacit.errors import BudgetError, RequestError
from tacit.scale import shortest

# Epsilon as people give it, a number or text, to the one decimal that is meant.

Epsilon = str | float | Decimal
"""Nats: a decimal string, or a number, which stands for its shortest decimal."""


def epsilon_text(epsilon: object) -> str:
    """The decimal string of an epsilon in nats, per unit of whatever it is asked for.

    Text stays as it is written; a float is the shortest decimal that reads back as it.

    Raises `RequestError` for what is no positive number.

    >>> epsilon_text(0.1), epsilon_text(1.0), epsilon_text("2.50")
    ('0.1', '1', '2.50')
    """
    text = epsilon.strip() if isinstance(epsilon, str) else _decimal(epsilon)
    try:
        number = Decimal(text)
        positive = number.is_finite() and number > 0
    except InvalidOperation:
        positive = False
    if not positive:
        shown = repr(epsilon) if isinstance(epsilon, str) else str(epsilon)
        raise RequestError(f"epsilon must be a positive decimal, as in 0.5, got {shown[:60]}.")
    return text


def _decimal(epsilon: object) -> str:
    if isinstance(epsilon, Decimal):
        return shortest(epsilon) if epsilon.is_finite() else str(epsilon)
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        return ""
    number = Decimal(repr(float(epsilon)))
    return shortest(number) if number.is_finite() else str(number)


NANO = 10**9


def nano(epsilon: str) -> int:
    """An epsilon (nats, a decimal string) in nano-epsilon, rounded up.

    Raises `RequestError` for what is no amount.

    >>> nano("0.5"), nano("0.0000000001")
    (500000000, 1)
    """
    whole = Decimal(epsilon) * NANO
    if not whole.is_finite() or whole < 0:
        raise RequestError(f"Epsilon must be a decimal of at least 0 such as 0.5, got {epsilon}.")
    return int(whole.to_integral_value(ROUND_CEILING))


def nats(amount: int) -> str:
    """An amount in nano-epsilon as a decimal string, in nats."""
    return shortest(Decimal(amount) / NANO)


@dataclass(frozen=True)
class Ledger:
    """`spent` of a lifetime `limit`, both in nano-epsilon, summed over every draw of a person.

    The sum bounds what all the person's answers together tell about all the person's values
    together: basic composition, delta = 0. Under "rated" it is public who rated what, and the sum
    is no epsilon per user; it is one where every plan hid presence, for what was rated by the first
    report. That a value changed later shows under every plan.
    """

    limit: int
    spent: int = 0

    @property
    def left(self) -> int:
        """What may still be spent; never below 0."""
        return max(self.limit - self.spent, 0)

    def affords(self, amount: int) -> bool:
        """Whether a debit of `amount` keeps within the limit."""
        return self.spent + amount <= self.limit

    def debit(self, amount: int) -> Self:
        """The ledger after a debit; raises `BudgetError` with the amount left when it is too much,
        and `RequestError` for an amount below 0."""
        if amount < 0:
            raise RequestError(f"A debit must be at least 0 nano-epsilon, got {amount}.")
        if not self.affords(amount):
            raise BudgetError(
                f"This answer costs epsilon = {nats(amount)} and {nats(self.left)} of "
                f"{nats(self.limit)} is left for your lifetime: no answer is drawn."
            )
        return type(self)(self.limit, self.spent + amount)
