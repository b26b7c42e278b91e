"""Files without a header: MovieLens and Libimseti.

MovieLens: `u.data` (100K, tabs) and `ratings.dat` (1M, `::`): user, item, rating, timestamp.

Libimseti, a dating site: lines `user,profile,rating`, ratings from 1 to 10.
"""

import re
from collections.abc import Iterator, Sequence

import polars as pl

from tacit.readers.format import Format, Request
from tacit.readers.source import Source
from tacit.readers.text import (
    Delimited,
    frames,
)

MOVIELENS_FIELDS = ("user", "item", "rating", "timestamp")
TABS = re.compile(rb"-?\d+\t-?\d+\t[\d.]+\t\d+\r?\n")
COLONS = re.compile(rb"-?\d+::-?\d+::[\d.]+::\d+\r?\n")


def _tabs(source: Source, request: Request) -> bool:
    return TABS.match(source.head) is not None


def _colons(source: Source, request: Request) -> bool:
    return COLONS.match(source.head) is not None


def _read_tabs(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("\t", MOVIELENS_FIELDS, request.grid))


def _read_colons(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("::", MOVIELENS_FIELDS, request.grid))


ML_100K = Format("movielens-100k", ("u.data",), _tabs, _read_tabs, scale="1:5:1")
ML_1M = Format("movielens-1m", ("ratings*.dat",), _colons, _read_colons, scale="1:5:1")


LIBIMSETI_LINE = re.compile(rb"\d+,\d+,\d+\r?\n")


def _looks_libimseti(source: Source, request: Request) -> bool:
    return LIBIMSETI_LINE.match(source.head) is not None


def _read_libimseti(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited(",", ("user", "item", "rating"), request.grid))


LIBIMSETI = Format(
    "libimseti", ("*libimseti*", "ratings.dat"), _looks_libimseti, _read_libimseti, scale="1:10:1"
)
