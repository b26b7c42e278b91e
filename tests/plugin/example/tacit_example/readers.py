"""Files of person!item!rating, a rating a line."""

from collections.abc import Iterator, Sequence

import polars as pl

from tacit.readers.format import Format, Request
from tacit.readers.source import Source
from tacit.readers.text import Delimited, frames


def _looks(source: Source, request: Request) -> bool:
    return source.head.partition(b"\n")[0].count(b"!") == 2


def _read(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("!", ("user", "item", "rating"), request.grid))


BARS = Format("bars", ("*.bars",), _looks, _read, scale="1:5:1")
