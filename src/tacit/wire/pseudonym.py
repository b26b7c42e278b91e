"""Names that a device goes by: one for the person in a task, one for each report.

HMAC-SHA256 under the device's secret, cut to 16 bytes. Whoever lacks the secret cannot tell whether
the names of two tasks belong to one person, nor make a name for somebody else's slot.
"""

import hmac

SECRET_BYTES = 32


def person(secret: bytes, task: str) -> str:
    """Her name in the task of that address: 32 hexadecimal digits, on all her reports to it."""
    return _name(secret, f"tacit-person-1\n{task}")


def report_id(secret: bytes, task: str, epoch: int, place: int | None) -> str:
    """The id of the report on one place of the catalogue, or on all that are asked (None).

    It does not depend on what is reported: a slot that is drawn again meets its first report.
    """
    slot = "all" if place is None else str(place)
    return _name(secret, f"tacit-report-1\n{task}\n{epoch}\n{slot}")


def _name(secret: bytes, text: str) -> str:
    return hmac.digest(secret, text.encode(), "sha256")[:16].hex()
