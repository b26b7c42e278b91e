"""Epsilon as people give it, a number or text, to the one decimal that is meant."""

from decimal import Decimal, InvalidOperation
from numbers import Real

from tacit.errors import RequestError
from tacit.scale import shortest

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
