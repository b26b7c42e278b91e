"""Text files to columns: a fast parser, and a slow one for error messages.

A block of lines is parsed by polars. If this fails, the block is parsed again line by line, to
report the faulty line and the reason.
"""

import csv
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import polars as pl

from tacit.errors import DataError
from tacit.readers.levels import DeclaredScale
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


def whole(value: str) -> bool:
    """Return whether the text is an integer that fits in 64 bits."""
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and abs(int(digits)) < 1 << 63


def rating_fault(value: str, grid: DeclaredScale | None) -> str | None:
    """Return the fault of one rating, or None."""
    try:
        number = np.array([float(value)])
    except ValueError:
        number = np.array([np.nan])
    if not np.isfinite(number[0]):
        return f"rating {shown(value)} is not a number; correct or remove the line"
    if grid is not None and not grid.admits(number)[0]:
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
