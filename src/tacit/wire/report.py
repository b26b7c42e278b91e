"""Reports as sent by a device: hashes and small integers; no float, no rating, no time."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.channels.table import Channel

SCHEMA = 1
MOST_REPORTS = 200
"""Most reports of one upload."""
LONGEST_UPLOAD = 1 << 18
"""Most bytes of one upload."""


@dataclass(frozen=True)
class Report:
    """One user's symbols for some item indices, through one channel, in one epoch.

    `id` and `person`: 32 hexadecimal digits (`tacit.wire.pseudonym`). `mech`: the channel's id.
    `symbols[k]` is the column of the channel's table that was drawn for `places[k]`.
    """

    id: str
    mech: str
    epoch: int
    person: str
    places: tuple[int, ...]
    symbols: tuple[int, ...]


def dumps(report: Report, channel: Channel) -> bytes:
    """Return the bytes that leave the device, of constant length, because symbols are padded."""
    width = len(str(len(channel.outputs) - 1))
    cells = ",".join(
        f"[{index},{symbol:{width}}]"
        for index, symbol in zip(report.places, report.symbols, strict=True)
    )
    return (
        f'{{"id":"{report.id}","mech":"{report.mech}","schema":{SCHEMA},"epoch":{report.epoch},'
        f'"person":"{report.person}","cells":[{cells}]}}'
    ).encode()


def upload(reports: Sequence[bytes]) -> bytes:
    """Return the body of a request that sends these reports, 1 to `MOST_REPORTS` of one task."""
    return b'{"reports":[' + b",".join(reports) + b"]}"
