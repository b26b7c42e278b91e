"""Parser of delimited text, used by most formats."""

import io
import re
from dataclasses import dataclass

import polars as pl

from tacit.readers.formats.times import EXAMPLES, is_iso, unix_seconds
from tacit.readers.levels import DeclaredScale
from tacit.readers.text import (
    UnsoundError,
    rating_fault,
    require_every_line,
    shown,
    sound,
    split,
    whole,
)

UNIT_SEPARATOR = b"\x1f"
HELD_OUT = {"0": False, "1": True, "false": False, "true": True}
"""Values of the column of a published split, in either case."""


@dataclass(frozen=True)
class Delimited:
    """Lines of separated fields. `fields`: names of the fields to read, None for others.

    Ids are read as strings. `gather` infers their type. Without a field rating the rows are
    interactions. `decimal_comma`: ratings have a decimal comma, as in 3,5. `iso_times`: timestamps
    are dates, as in 2024-05-31, and not Unix seconds.
    """

    separator: str
    fields: tuple[str | None, ...]
    grid: DeclaredScale | None
    decimal_comma: bool = False
    iso_times: bool = False

    def parse(self, data: bytes) -> pl.DataFrame:
        """Parse the named fields into columns: ids String, rating Float64, timestamp Int64,
        held_out Boolean."""
        plain, separator = self._without_quotes(data)
        frame = pl.read_csv(
            io.BytesIO(plain),
            has_header=False,
            separator=separator,
            quote_char=None,
            schema={name or f"_{k}": self._type(name) for k, name in enumerate(self.fields)},
            columns=[k for k, name in enumerate(self.fields) if name],
            empty_string_is_null=True,
            decimal_comma=self.decimal_comma,
        )
        if self.iso_times:
            frame = frame.with_columns(unix_seconds("timestamp"))
        require_every_line(frame, data)
        sound(frame, self.grid)
        return _with_split(frame) if "held_out" in frame.columns else frame

    def fault(self, line: str) -> str | None:
        """Return the first fault of a line, checked field by field, or None."""
        values = self._split(line)
        if len(values) != len(self.fields):
            return (
                f"{shown(line)} has {len(values)} fields, not {len(self.fields)}; "
                f"correct or remove the line"
            )
        pairs = zip(self.fields, values, strict=True)
        faults = (self._field_fault(name, value.strip()) for name, value in pairs if name)
        return next((fault for fault in faults if fault), None)

    def _type(self, name: str | None) -> pl.DataType:
        if name == "rating":
            return pl.Float64()
        is_unix = name == "timestamp" and not self.iso_times
        return pl.Int64() if is_unix else pl.String()

    def _without_quotes(self, data: bytes) -> tuple[bytes, str]:
        """Unquote all fields; return the block and its new separator.

        A quote inside an unquoted field is an ordinary character, as in 7" single. Raises
        `UnsoundError` for a block that is not UTF-8.
        """
        separator = UNIT_SEPARATOR.decode()
        if len(self.separator) > 1:
            return data.replace(self.separator.encode(), UNIT_SEPARATOR), separator
        if not re.search(self._quoted_field(), data):
            return data, self.separator
        try:
            lines = data.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            raise UnsoundError("the text is not UTF-8") from error
        rows = (separator.join(self._split(line.removesuffix("\r"))) for line in lines)
        return ("\n".join(rows) + "\n").encode(), separator

    def _quoted_field(self) -> bytes:
        return b"(?m)(?:^|" + re.escape(self.separator.encode()) + b')"'

    def _split(self, line: str) -> list[str]:
        several = len(self.separator) > 1
        return line.split(self.separator) if several else split(line, self.separator)

    def _field_fault(self, name: str, value: str) -> str | None:
        if not value:
            return f"the {name} is empty; correct or remove the line"
        if name == "rating":
            return rating_fault(value.replace(",", ".") if self.decimal_comma else value, self.grid)
        if name == "timestamp" and self.iso_times and not is_iso(value):
            return f"timestamp {shown(value)} is not a date such as {EXAMPLES}; correct the line"
        if name == "held_out" and value.lower() not in HELD_OUT:
            return f"the held-out flag {shown(value)} must be 0 or 1; correct the line"
        if self._type(name) == pl.Int64 and not whole(value):
            return f"{name} {shown(value)} is not an integer; correct or remove the line"
        return None


def _with_split(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with a Boolean held_out. Raises `UnsoundError` for other values."""
    flags = frame["held_out"].str.strip_chars().str.to_lowercase()
    held = flags.replace_strict(HELD_OUT, default=None, return_dtype=pl.Boolean)
    if held.null_count():
        raise UnsoundError("a row has no valid held-out flag")
    return frame.with_columns(held)
