"""The report: what leaves a device. Hashes and small integers; no float, no rating, no time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channels.table import Channel
from tacit.errors import DataError
from tacit.wire import strict

SCHEMA = 1
KEYS = ("id", "mech", "schema", "epoch", "person", "cells")
MOST_REPORTS = 200
"""Reports in one upload."""
LONGEST_UPLOAD = 1 << 18
"""Bytes of one upload."""
WHAT = "A report"

_HEX = {length: re.compile(f"[0-9a-f]{{{length}}}") for length in (32, 64)}


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


def of_json(value: Any) -> Report:
    """The report in a JSON value; raises `DataError` for anything but a well-formed one.

    Whether a task asked for it is for the collector to say.
    """
    fields = strict.fields(value, WHAT, KEYS)
    if type(fields["schema"]) is not int or fields["schema"] != SCHEMA:
        raise DataError(f"A report has schema {str(fields['schema'])[:20]}; this reads {SCHEMA}.")
    places, symbols = _cells(fields["cells"])
    return Report(
        id=_hex(fields, "id", 32),
        mech=_hex(fields, "mech", 64),
        epoch=strict.typed(fields, "epoch", int, WHAT),
        person=_hex(fields, "person", 32),
        places=places,
        symbols=symbols,
    )


def _hex(fields: dict[str, Any], key: str, length: int) -> str:
    text = fields[key]
    if not isinstance(text, str) or not _HEX[length].fullmatch(text):
        raise DataError(f"A report's {key} is not {length} hexadecimal digits.")
    return text


def _cells(value: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Places and symbols; whole columns at a time, because a collector reads millions."""
    try:
        places, symbols = zip(*value, strict=True)
        if type(value) is list and {*map(type, places), *map(type, symbols)} == {int}:
            return places, symbols
    except (TypeError, ValueError):
        pass
    raise DataError("A report's cells are not pairs of whole numbers, one or more.")
