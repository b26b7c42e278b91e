"""Reports as a Parquet file: raw ids and symbols, the channels' JSON in its metadata."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tacit.errors import DataError
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Vocabulary
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.wire.channel import dumps, loads

FORMAT = "tacit-reports-1"
KEY = "tacit"


def write_reports(reports: Reports, path: str | Path) -> None:
    """Write columns user, item, symbol, channel; everything else goes into the file's metadata.

    The file appears whole or not at all. Raises `OSError` where it cannot be written.
    """
    header = {
        "format": FORMAT,
        "scale": str(reports.scale),
        "plan": reports.plan,
        "name": reports.name,
        "guarantee": reports.guarantee.to_dict(),
        "channels": [json.loads(dumps(channel)) for channel in reports.channels],
    }
    frame = pl.DataFrame(
        {
            "user": reports.user_ids.take(reports.users),
            "item": reports.item_ids.take(reports.items),
            "symbol": reports.symbols,
            "channel": reports.channel_of,
        }
    )
    place = Path(path)
    partial = place.with_name(f"{place.name}.part")
    with partial.open("wb") as file:
        frame.write_parquet(file, metadata={KEY: json.dumps(header)})
    partial.replace(place)


def read_reports(path: str | Path) -> Reports:
    """The reports that `write_reports` wrote; every channel is verified again.

    People and items without a report are not in the file, so vocabularies hold those seen. Raises
    `DataError` where the file is not one of reports, `CertificateError` for a channel that does not
    hold.
    """
    try:
        metadata = pl.read_parquet_metadata(path)
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path} is not a Parquet file of reports: {error}") from None
    header = _header(metadata.get(KEY, ""), path)
    channels = tuple(loads(json.dumps(channel)) for channel in header["channels"])
    symbols, channel_of = frame["symbol"].to_numpy(), frame["channel"].to_numpy()
    most = np.array([len(channel.outputs) for channel in channels])
    if channel_of.max() >= len(channels) or (symbols >= most[channel_of]).any():
        raise DataError(f"{path} holds a symbol that its channel does not have.")
    user_ids, users = Vocabulary.of(frame["user"])
    item_ids, items = Vocabulary.of(frame["item"])
    return Reports(
        users=users,
        items=items,
        symbols=symbols,
        channel_of=channel_of.astype(np.uint8),
        channels=channels,
        scale=RatingScale.parse(header["scale"]),
        user_ids=user_ids,
        item_ids=item_ids,
        guarantee=Guarantee.from_dict(header["guarantee"]),
        plan=header["plan"],
        name=header["name"],
    )


def _header(text: str, path: str | Path) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(text)
        if header["format"] == FORMAT and header["channels"]:
            return header
    except (ValueError, KeyError, TypeError):
        pass
    raise DataError(f"{path} holds no reports: its metadata lack the header {FORMAT}.")
