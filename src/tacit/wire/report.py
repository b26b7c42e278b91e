"""The report: what leaves a device. Hashes and small integers; no float, no rating, no time."""

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.channels.table import Channel

SCHEMA = 1
MOST_REPORTS = 200
"""Reports in one upload."""
LONGEST_UPLOAD = 1 << 18
"""Bytes of one upload."""


@dataclass(frozen=True)
class Report:
    """One person's symbols for some places of the catalogue, through one channel, in one epoch.

    `id` and `person`: 32 hexadecimal digits (`tacit.wire.pseudonym`). `mech`: the channel's id.
    `symbols[k]` is the column of the channel's table that answered for place `places[k]`.
    """

    id: str
    mech: str
    epoch: int
    person: str
    places: tuple[int, ...]
    symbols: tuple[int, ...]


def dumps(report: Report, channel: Channel) -> bytes:
    """The bytes that leave the device: as long for every answer, because symbols are padded."""
    width = len(str(len(channel.outputs) - 1))
    cells = ",".join(
        f"[{place},{symbol:{width}}]"
        for place, symbol in zip(report.places, report.symbols, strict=True)
    )
    return (
        f'{{"id":"{report.id}","mech":"{report.mech}","schema":{SCHEMA},"epoch":{report.epoch},'
        f'"person":"{report.person}","cells":[{cells}]}}'
    ).encode()


def upload(reports: Sequence[bytes]) -> bytes:
    """The body of a request that sends these reports, 1 to `MOST_REPORTS` of one task."""
    return b'{"reports":[' + b",".join(reports) + b"]}"
