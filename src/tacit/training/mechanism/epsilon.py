"""Epsilon as a training is given it: a decimal string, in nats of the unit of its guarantee."""

import re
from decimal import Decimal

from tacit.errors import RequestError

PLAIN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")


def nats(epsilon: str) -> Decimal:
    """The exact number; raises `RequestError` unless it is a positive plain decimal.

    Of whichever unit the guarantee names.
    """
    if not PLAIN.fullmatch(epsilon) or Decimal(epsilon) <= 0:
        raise RequestError(f"epsilon must be a positive decimal such as 0.5, got '{epsilon}'.")
    return Decimal(epsilon)
