"""Names that a device goes by: one for the person in a task, one for each report.

HMAC-SHA256 under the device's secret. By names alone nobody without the secret can tell whether two
tasks have a person in common; what is reported under them can tell. Nor can anybody make a name for
somebody else's slot.

A `provider` of None is a tacit-task-1, or a tacit-task-2 that goes on with one.
"""

import hmac
from hashlib import sha256

SECRET_BYTES = 32
_NAME_BYTES = 16


def person(secret: bytes, task: str, provider: str | None = None) -> str:
    """The person's name in the task of that address: 32 hexadecimal digits, on all reports to it.

    Under a `provider` it is the hash of the erasure key, so that whoever knows the name, and that
    is everybody with the reports, cannot have them erased.
    """
    if provider is None:
        return _name(secret, f"tacit-person-1\n{task}")
    return sha256(erasure_key(secret, task, provider)).digest()[:_NAME_BYTES].hex()


def erasure_key(secret: bytes, task: str, provider: str) -> bytes:
    """What a device shows to have the reports under its name erased: 32 bytes, a secret till then.

    Names made for a tacit-task-1 have none.
    """
    return hmac.digest(secret, f"tacit-person-2\n{provider}\n{task}".encode(), "sha256")


def report_id(
    secret: bytes, task: str, epoch: int, place: int | None, provider: str | None = None
) -> str:
    """The id of the report on one place of the catalogue, or on all that are asked (None).

    It does not depend on what is reported: a slot that is drawn again meets its first report.
    """
    slot = "all" if place is None else str(place)
    head = "tacit-report-1" if provider is None else f"tacit-report-2\n{provider}"
    return _name(secret, f"{head}\n{task}\n{epoch}\n{slot}")


def _name(secret: bytes, text: str) -> str:
    return hmac.digest(secret, text.encode(), "sha256")[:_NAME_BYTES].hex()
