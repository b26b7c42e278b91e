"""MovieLens without a header: `u.data` (100K) and `ratings.dat` with `::` (1M)."""

import re
from collections.abc import Iterator, Sequence

import polars as pl

from tacit.readers.delimited import Delimited
from tacit.readers.format import Format, Request
from tacit.readers.source import Source
from tacit.readers.text import frames

FIELDS = ("user", "item", "rating", "timestamp")
TABS = re.compile(rb"-?\d+\t-?\d+\t[\d.]+\t\d+\r?\n")
COLONS = re.compile(rb"-?\d+::-?\d+::[\d.]+::\d+\r?\n")


def _tabs(source: Source, request: Request) -> bool:
    return TABS.match(source.head) is not None


def _colons(source: Source, request: Request) -> bool:
    return COLONS.match(source.head) is not None


def _read_tabs(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("\t", FIELDS, request.grid))


def _read_colons(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    yield from frames(sources[0], Delimited("::", FIELDS, request.grid))


ML_100K = Format("movielens-100k", ("u.data",), _tabs, _read_tabs, scale="1:5:1")
ML_1M = Format("movielens-1m", ("ratings*.dat",), _colons, _read_colons, scale="1:5:1")
