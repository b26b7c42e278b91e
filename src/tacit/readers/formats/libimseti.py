"""Libimseti, a dating site: lines `user,profile,rating`, no header, ratings 1 to 10."""

import re
from collections.abc import Iterator, Sequence

import polars as pl

from tacit.readers.delimited import Delimited
from tacit.readers.format import Format, Request
from tacit.readers.source import Source
from tacit.readers.text import frames

LINE = re.compile(rb"\d+,\d+,\d+\r?\n")


def _looks(source: Source, request: Request) -> bool:
    return LINE.match(source.head) is not None


def _read(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited(",", ("user", "item", "rating"), request.grid))


LIBIMSETI = Format("libimseti", ("*libimseti*", "ratings.dat"), _looks, _read, scale="1:10:1")
