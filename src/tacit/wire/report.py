"""Reports as sent by a device, and the pseudonyms in them.

Pseudonyms of a device: one per task for the user, one per report.

HMAC-SHA256 under the device's secret. Without the secret, names alone do not reveal whether two
tasks have a user in common; the reports may. Nor can names of other users' slots be computed.

A `provider` of None is a tacit-task-1, or a tacit-task-2 that continues one.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from tacit.channels.table import Channel

SECRET_BYTES = 32
_NAME_BYTES = 16


def person(secret: bytes, task: str, provider: str | None = None) -> str:
    """Return the user's name in the task of that address: 32 hexadecimal digits, on all reports.

    With a `provider` it is the hash of the erasure key, so that the name, which is in all reports,
    is not sufficient to have them erased.
    """
    if provider is None:
        return _name(secret, f"tacit-person-1\n{task}")
    return sha256(erasure_key(secret, task, provider)).digest()[:_NAME_BYTES].hex()


def erasure_key(secret: bytes, task: str, provider: str) -> bytes:
    """Return the key that authorizes erasure of the reports under a name: 32 secret bytes.

    Names made for a tacit-task-1 have none.
    """
    return hmac.digest(secret, f"tacit-person-2\n{provider}\n{task}".encode(), "sha256")


def report_id(
    secret: bytes, task: str, epoch: int, index: int | None, provider: str | None = None
) -> str:
    """Return the id of the report on one item index, or on all queried ones (None).

    It does not depend on the content: a slot that is drawn again conflicts with its first report.
    """
    slot = "all" if index is None else str(index)
    head = "tacit-report-1" if provider is None else f"tacit-report-2\n{provider}"
    return _name(secret, f"{head}\n{task}\n{epoch}\n{slot}")


def block_key(secret: bytes, provider: str, block: str) -> str:
    """Return the key that selects the device's queried places of a block: 32 hexadecimal digits.

    `block`: address of the document that added the block's items, so that the key is unpredictable
    for those who choose them. It is sent with the block's report.
    """
    return _name(secret, f"tacit-block-1\n{provider}\n{block}")


def block_report_id(secret: bytes, provider: str, task: str, block: str, generation: int) -> str:
    """Return the id of the report on a block in a generation.

    It does not depend on epoch, channel or content, so a second answer is a conflict.
    """
    return _name(secret, f"tacit-block-report-1\n{provider}\n{task}\n{block}\n{generation}")


def _name(secret: bytes, text: str) -> str:
    return hmac.digest(secret, text.encode(), "sha256")[:_NAME_BYTES].hex()


# Reports as sent by a device: hashes and small integers; no float, no rating, no time.

SCHEMA, BLOCK_SCHEMA = 1, 2
"""Versions of a report: on items of a task, and on a block."""
MOST_REPORTS = 200
"""Most reports of one upload."""
LONGEST_UPLOAD = 1 << 18
"""Most bytes of one upload."""


@dataclass(frozen=True)
class Report:
    """One user's symbols for some item indices, through one channel, in one epoch.

    `id` and `person`: 32 hexadecimal digits (`person`, `report_id`). `mech`: the channel's id.
    `symbols[k]` is the column of the channel's table that was drawn for `places[k]`. `key`: the
    block key of a report on a block, None for others.
    """

    id: str
    mech: str
    epoch: int
    person: str
    places: tuple[int, ...]
    symbols: tuple[int, ...]
    key: str | None = None


def dumps(report: Report, channel: Channel) -> bytes:
    """Return the bytes that leave the device, of constant length, because symbols are padded."""
    width = len(str(len(channel.outputs) - 1))
    cells = ",".join(
        f"[{index},{symbol:{width}}]"
        for index, symbol in zip(report.places, report.symbols, strict=True)
    )
    schema, key = (SCHEMA, "") if report.key is None else (BLOCK_SCHEMA, f'"key":"{report.key}",')
    return (
        f'{{"id":"{report.id}","mech":"{report.mech}","schema":{schema},"epoch":{report.epoch},'
        f'"person":"{report.person}",{key}"cells":[{cells}]}}'
    ).encode()


def upload(reports: Sequence[bytes]) -> bytes:
    """Return the body of a request that sends these reports, 1 to `MOST_REPORTS` of one task."""
    return b'{"reports":[' + b",".join(reports) + b"]}"
