"""Epsilon as an argument, and the ledger: the epsilon that a user has spent, and what is left.

The ledger has integers of nano-epsilon, rounded up: a sum of floats could be below what was spent.
"""

import re
from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_CEILING,
    Context,
    Decimal,
    InvalidOperation,
)
from numbers import Real
from typing import Self

from tacit.errors import BudgetError, RequestError, must_be, shown
from tacit.scale import shortest

Epsilon = str | float | Decimal
"""Nats: a decimal string, or a number, which stands for its shortest decimal."""


def epsilon_text(epsilon: object) -> str:
    """Return the decimal string of an epsilon in nats.

    Text is returned as written. A float becomes the shortest decimal that parses to it.

    Raises `RequestError` unless it is a positive number.

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
        value = str(epsilon) if isinstance(epsilon, Decimal) else shown(epsilon)
        raise RequestError(f"epsilon must be a positive decimal, as in 0.5, got {value[:60]}.")
    return text


def delta_text(delta: float) -> str:
    """Return a delta as the shortest number that parses to it: never rounded.

    >>> delta_text(1e-6), delta_text(1.4999999e-6), delta_text(0.0)
    ('1e-06', '1.4999999e-06', '0')
    """
    return repr(float(delta)).removesuffix(".0")


def _decimal(epsilon: object) -> str:
    if isinstance(epsilon, Decimal):
        return shortest(epsilon) if epsilon.is_finite() else str(epsilon)
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        return ""
    number = Decimal(repr(float(epsilon)))
    return shortest(number) if number.is_finite() else str(number)


NANO = 10**9
MOST_AMOUNT = (1 << 63) - 1
"""The largest integer of a store."""
_PLAIN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")
# The context of the application may have few digits, and would round a debit down.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def nano(epsilon: str) -> int:
    """Return an epsilon (nats, a decimal string) in nano-epsilon, rounded up.

    Raises `RequestError` for text that is not a decimal from 0 to 9 billion.

    >>> nano("0.5"), nano("0.0000000001")
    (500000000, 1)
    """
    try:
        amount = _EXACT.multiply(Decimal(epsilon), NANO)
    except InvalidOperation:
        amount = Decimal("nan")
    if not (amount.is_finite() and 0 <= amount <= MOST_AMOUNT):
        raise RequestError(
            "Epsilon must be a decimal from 0 to 9000000000 such as 0.5, got "
            f"{shown(epsilon)[:60]}."
        )
    return int(amount.to_integral_value(ROUND_CEILING, _EXACT))


def is_plain(text: object) -> bool:
    """Return whether a value is text of a decimal such as "0.5", without sign and exponent."""
    return isinstance(text, str) and _PLAIN.fullmatch(text) is not None


def plain(epsilon: object) -> str:
    """Return an epsilon that a user sets, in nats.

    Raises `RequestError` unless it is text such as "0.5".
    """
    text = must_be(str, epsilon, "an epsilon", "write it as a string, as in '0.5'")
    if not is_plain(text):
        raise RequestError(f"Epsilon '{text[:60]}' is not a plain decimal such as 0.5.")
    return text


def nats(amount: int) -> str:
    """Return an amount in nano-epsilon as a decimal string, in nats."""
    return shortest(Decimal(amount).scaleb(-9, _EXACT))


@dataclass(frozen=True)
class Ledger:
    """`spent` of a lifetime `limit`, both in nano-epsilon, summed over all draws of a user.

    The sum bounds what all answers of the user together reveal about all their values: basic
    composition, delta = 0. A shuffled task adds its epsilon per user, and its delta, whether or not
    its batch is released. Under "rated" presence is public, so the sum is not an epsilon per user.
    It is one if every plan protects presence, for the items rated before the first report. That a
    value changed later is visible under every plan.
    """

    limit: int
    spent: int = 0

    @property
    def left(self) -> int:
        """Return the amount that may still be spent, at least 0."""
        return max(self.limit - self.spent, 0)

    def affords(self, amount: int) -> bool:
        """Return whether a debit of `amount` stays within the limit."""
        return self.spent + amount <= self.limit

    def debit(self, amount: int) -> Self:
        """Return the ledger after a debit.

        Raises `BudgetError` with the amount left if the debit exceeds it, and `RequestError` for an
        amount below 0.
        """
        if amount < 0:
            raise RequestError(f"A debit must be at least 0 nano-epsilon, got {amount}.")
        if not self.affords(amount):
            raise BudgetError(
                f"This report costs epsilon = {nats(amount)}, but {nats(self.left)} of your "
                f"lifetime budget of {nats(self.limit)} is left, so no report is drawn."
            )
        return type(self)(self.limit, self.spent + amount)
