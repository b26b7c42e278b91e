"""JSON lines: one object per rating, as in the reviews of Amazon, Yelp and Goodreads.

Other fields of an object are ignored. Ids may be text or integers.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from tacit.readers.declared_scale import DeclaredScale
from tacit.readers.format import TIME_EXAMPLES, Columns, Format, Request, is_iso, unix_seconds
from tacit.readers.frame import require
from tacit.readers.source import Source
from tacit.readers.text import (
    UnsoundError,
    frames,
    rating_fault,
    require_every_line,
    shown,
    sound,
)

KNOWN = (
    Columns("reviewerID", "asin", "overall", "unixReviewTime"),
    Columns("user_id", "business_id", "stars", "date"),
    Columns("user_id", "book_id"),
    Columns("user_id", "asin"),
)
"""Fields of Amazon (2018), Yelp, Goodreads and Amazon (2023), whose times are of another unit."""


def _first(source: Source) -> dict[str, Any] | None:
    """Return the first object, None if the first line is none."""
    try:
        value = json.loads(source.head.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _columns(request: Request, names: Sequence[str]) -> Columns:
    """Return the named columns, or those of the first known site whose fields are present."""
    if request.columns != Columns() or not request.missing(names):
        return request.columns
    sites = (each for each in KNOWN if {each.user, each.item, each.rating} <= set(names))
    return next(sites, request.columns)


def _looks_json(source: Source, request: Request) -> bool:
    first = _first(source)
    return first is not None and not _with_columns(request, first).missing(list(first))


def _with_columns(request: Request, first: dict[str, Any]) -> Request:
    return Request(request.grid, _columns(request, list(first)), request.held_out)


@dataclass(frozen=True)
class Objects:
    """Objects with ids, a rating and a time. `names`: the field of each, by standard name.

    `iso_times`: times are dates, and not Unix seconds.
    """

    names: dict[str, str]
    grid: DeclaredScale | None
    iso_times: bool = False

    def parse(self, data: bytes) -> pl.DataFrame:
        """Parse the fields into columns: ids String, rating Float64, timestamp Int64."""
        raw = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
        require_every_line(raw, data)
        frame = raw.select(
            pl.col(theirs).cast(self._type(ours, raw.schema[theirs])).alias(ours)
            for ours, theirs in self.names.items()
            if theirs in raw.columns
        )
        if frame.width < len(self.names):
            raise UnsoundError("a field is missing")
        frame = frame.with_columns(unix_seconds("timestamp")) if self.iso_times else frame
        sound(frame, self.grid)
        return frame

    def fault(self, line: str) -> str | None:
        """Return the fault of one line, or None."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return f"{shown(line)} is not JSON; correct or remove the line"
        if not isinstance(value, dict):
            return f"{shown(line)} is not a JSON object; correct or remove the line"
        known = cast("dict[str, Any]", value)
        faults = (self._field_fault(ours, known.get(name)) for ours, name in self.names.items())
        return next((fault for fault in faults if fault), None)

    def _type(self, name: str, parsed: pl.DataType) -> pl.DataType:
        """Return the type to cast a field to. Raises `UnsoundError` if it is of another kind."""
        if name == "rating" and (parsed.is_numeric() or isinstance(parsed, pl.String)):
            return pl.Float64()
        is_unix = name == "timestamp" and not self.iso_times
        if parsed.is_integer() or (isinstance(parsed, pl.String) and not is_unix):
            return pl.Int64() if is_unix else pl.String()
        raise UnsoundError(f"the {name} is of another type")

    def _field_fault(self, name: str, value: object) -> str | None:
        if value is None or value == "":
            return f"the {name} is missing; correct or remove the line"
        if name == "rating":
            return rating_fault(str(value), self.grid)
        if name == "timestamp" and self.iso_times:
            if is_iso(str(value)):
                return None
            text = shown(str(value))
            return f"timestamp {text} is not a date such as {TIME_EXAMPLES}; correct the line"
        kinds = (int,) if name == "timestamp" else (int, str)
        if isinstance(value, bool) or not isinstance(value, kinds):
            what = "an integer" if name == "timestamp" else "text or an integer"
            return f"{name} {shown(str(value))} is not {what}; correct or remove the line"
        return None


def _read_json(sources: Sequence[Source], request: Request) -> Iterator[pl.DataFrame]:
    for source in sources:
        first = _first(source) or {}
        chosen = _with_columns(request, first)
        require(source, list(first), chosen)
        names = {ours: theirs for theirs, ours in chosen.renaming(list(first)).items()}
        time = first.get(names.get("timestamp", ""))
        yield from frames(source, Objects(names, request.grid, isinstance(time, str)))


JSON_LINES = Format("json-lines", ("*.json", "*.jsonl", "*.ndjson"), _looks_json, _read_json)
