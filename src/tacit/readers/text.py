"""Text files to columns: a fast parser, and a slow one for error messages.

A block of lines is parsed by polars. If this fails, the block is parsed again line by line, to
report the faulty line and the reason.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from tacit.errors import DataError
from tacit.readers.declared_scale import DeclaredScale
from tacit.readers.format import TIME_EXAMPLES, is_iso, unix_seconds
from tacit.readers.source import Block, Source

SHOWN = 60
PACKED = (b"\x1f\x8b", b"x\x01", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
"""Magic bytes of gzip, zlib and zstandard, which polars would decompress without a size limit."""


class UnsoundError(Exception):
    """A block contains a fault. The slow parser locates it."""


class Parser(Protocol):
    """Parser of one kind of line."""

    def parse(self, data: bytes) -> pl.DataFrame:
        """Parse the rows of a block. Raises `UnsoundError` or a polars error for a fault."""
        ...

    def fault(self, line: str) -> str | None:
        """Return the fault of one line and its remedy, or None."""
        ...


def frames(source: Source, parser: Parser, *, skip_lines: int = 0) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file in order, block by block.

    `skip_lines`: number of header lines. Raises `DataError` with the file, the line and the value.
    """
    for block in source.blocks():
        body = _headless(block, skip_lines) if block.first_line == 1 else block
        if body.data.strip():
            yield _parsed(source, body, parser)


def _headless(block: Block, skip_lines: int) -> Block:
    data = block.data
    for _ in range(skip_lines):
        data = data.partition(b"\n")[2]
    return Block(block.first_line + skip_lines, data)


def _parsed(source: Source, block: Block, parser: Parser) -> pl.DataFrame:
    if block.data.startswith(PACKED):
        raise DataError(f"{source} is compressed twice; decompress it once.")
    try:
        return parser.parse(block.data)
    except (UnsoundError, pl.exceptions.PolarsError):
        pass
    try:
        return parser.parse(_examined(source, block, parser))
    except (UnsoundError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"{source}, line {block.first_line} or later: the rows cannot be parsed "
            f"({reason(error)}); write the file again as plain comma-separated rows."
        ) from error


def _examined(source: Source, block: Block, parser: Parser) -> bytes:
    """Return the block without blank lines. Raises `DataError` for the first faulty line."""
    lines: list[bytes] = []
    for number, raw in enumerate(block.data.split(b"\n"), block.first_line):
        line = raw.rstrip(b"\r")
        if not line.strip():
            continue
        if fault := _fault(line, parser):
            raise DataError(f"{source}, line {number}: {fault}.")
        lines.append(line)
    return b"\n".join(lines) + b"\n"


def _fault(line: bytes, parser: Parser) -> str | None:
    try:
        return parser.fault(line.decode())
    except UnicodeDecodeError as error:
        bad = line[error.start]
        return f"byte 0x{bad:02x} is not UTF-8; save the file as UTF-8"


def split(line: str, separator: str) -> list[str]:
    """Split one line into fields. A line that is not valid csv is one field."""
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [""])
    except csv.Error:
        return [line]


def reason(error: BaseException) -> str:
    """Return the first line of an error message, without unprintable characters."""
    first = str(error).partition("\n")[0]
    return "".join(c if c.isprintable() else " " for c in first).strip().rstrip(".")


def shown(value: str) -> str:
    """Quote a value for a message, on one line, truncated if it is long."""
    text = value if len(value) <= SHOWN else value[:SHOWN] + ".."
    return repr(text)


def is_integer(value: str) -> bool:
    """Return whether the text is an integer that fits in 64 bits."""
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and abs(int(digits)) < 1 << 63


def finite(value: str) -> bool:
    """Return whether the text is a finite number."""
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def rating_fault(value: str, grid: DeclaredScale | None) -> str | None:
    """Return the fault of one rating, or None."""
    try:
        number = np.array([float(value)])
    except ValueError:
        number = np.array([np.nan])
    if not np.isfinite(number[0]):
        return f"rating {shown(value)} is not a number; correct or remove the line"
    if grid is not None and not grid.admits(number)[0]:
        if grid.counts:
            return f"count {shown(value)} is not an integer; round the counts"
        return (
            f"rating {shown(value)} is off the scale {grid.scale}; correct the rating or the scale"
        )
    return None


def missing(column: pl.Series) -> pl.Series:
    """Return the mask of missing values: null or blank text."""
    if isinstance(column.dtype, pl.String):
        return column.is_null() | (column.str.strip_chars() == "").fill_null(True)
    return column.is_null()


def count_lines(data: bytes) -> int:
    """Count the lines of a block, whether or not the last one ends in a line feed."""
    return data.count(b"\n") + (not data.endswith(b"\n"))


def require_every_line(frame: pl.DataFrame, data: bytes) -> None:
    """Raise `UnsoundError` unless there is one row per line. Parsers may join or skip lines."""
    if len(frame) != count_lines(data):
        raise UnsoundError(f"{count_lines(data)} lines were parsed as {len(frame)} rows")


def sound(frame: pl.DataFrame, grid: DeclaredScale | None) -> None:
    """Raise `UnsoundError` if a value is missing, not finite or off the grid."""
    if any(missing(frame[name]).any() for name in frame.columns):
        raise UnsoundError("a value is missing")
    if "rating" not in frame.columns:
        return
    ratings = frame["rating"].to_numpy()
    if not (np.isfinite(ratings) if grid is None else grid.admits(ratings)).all():
        raise UnsoundError("a rating is off the scale")


# Parser of delimited text, used by most formats.

UNIT_SEPARATOR = b"\x1f"
HELD_OUT = {"0": False, "1": True, "false": False, "true": True}
"""Values of the column of a published split, in either case."""


@dataclass(frozen=True)
class Delimited:
    """Lines of separated fields. `fields`: names of the fields to read, None for others.

    Ids are read as strings. `gather` infers their type. Without a field rating the rows are
    interactions. `decimal_comma`: ratings have a decimal comma, as in 3,5. `iso_times`: timestamps
    are dates, as in 2024-05-31, and not Unix seconds. `float_times`: they have decimals, which are
    cut off.
    """

    separator: str
    fields: tuple[str | None, ...]
    grid: DeclaredScale | None
    decimal_comma: bool = False
    iso_times: bool = False
    float_times: bool = False

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
        if self.float_times:
            frame = frame.with_columns(pl.col("timestamp").floor().cast(pl.Int64()))
        return _with_split(frame) if "held_out" in frame.columns else frame

    def fault(self, line: str) -> str | None:
        """Return the first fault of a line, checked field by field, or None."""
        values = self._split(line)
        if len(values) != len(self.fields):
            return (
                f"{shown(line)} has {len(values)} fields, expected {len(self.fields)}; correct or "
                "remove the line"
            )
        pairs = zip(self.fields, values, strict=True)
        faults = (self._field_fault(name, value.strip()) for name, value in pairs if name)
        return next((fault for fault in faults if fault), None)

    def _type(self, name: str | None) -> pl.DataType:
        if name == "rating":
            return pl.Float64()
        is_unix = name == "timestamp" and not self.iso_times
        if is_unix and self.float_times:
            return pl.Float64()
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
            return (
                f"timestamp {shown(value)} is not a date such as {TIME_EXAMPLES}; correct the line"
            )
        if name == "held_out" and value.lower() not in HELD_OUT:
            return f"the held-out flag {shown(value)} must be 0 or 1; correct the line"
        if self._type(name) == pl.Float64 and not finite(value):
            return f"{name} {shown(value)} is not a number; correct or remove the line"
        if self._type(name) == pl.Int64 and not is_integer(value):
            return f"{name} {shown(value)} is not an integer; correct or remove the line"
        return None


def _with_split(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with a Boolean held_out. Raises `UnsoundError` for other values."""
    flags = frame["held_out"].str.strip_chars().str.to_lowercase()
    held = flags.replace_strict(HELD_OUT, default=None, return_dtype=pl.Boolean)
    if held.null_count():
        raise UnsoundError("a row has an invalid held-out flag")
    return frame.with_columns(held)
