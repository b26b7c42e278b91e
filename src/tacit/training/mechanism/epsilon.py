"""Epsilon as an argument of trainers: a decimal string, in nats per unit of the guarantee."""

import re
from decimal import Decimal

from tacit.errors import RequestError

PLAIN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")


def nats(epsilon: str) -> Decimal:
    """Return the exact number, in nats of the guarantee's unit.

    Raises `RequestError` unless `epsilon` is a positive plain decimal.
    """
    if not PLAIN.fullmatch(epsilon) or Decimal(epsilon) <= 0:
        raise RequestError(f"epsilon must be a positive decimal such as 0.5, got '{epsilon}'.")
    return Decimal(epsilon)
