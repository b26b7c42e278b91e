"""Declarations of file formats: how to recognize and how to parse them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatch
from typing import Any, cast

import polars as pl

from tacit.errors import RequestError, must_be, shown
from tacit.readers.declared_scale import DeclaredScale, Rounding
from tacit.readers.source import Source

# ISO dates and times as Unix seconds.

ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d.*)?")
TIME_EXAMPLES = "2024-05-31 or 2024-05-31T12:00:00Z"
_FULL = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_ZONE = r"(Z|[+-]\d\d:?\d\d)$"


def unix_seconds(column: str) -> pl.Expr:
    """Convert texts in a column to integer Unix seconds, null unless they are ISO dates or times.

    A date is its midnight, and a time without seconds the start of its minute. Without a time
    zone, times are in UTC.

    >>> pl.DataFrame({"at": ["1970-01-02", "1970-01-01 01:00:00+01:00"]}).select(
    ...     unix_seconds("at")
    ... )["at"].to_list()
    [86400, 0]
    """
    text = pl.col(column).str.strip_chars().str.replace(" ", "T", literal=True)
    timed = pl.when(text.str.contains("T", literal=True)).then(text).otherwise(text + "T00:00:00")
    timed = timed.str.replace(r"T(\d\d:\d\d)(Z|[+-]|$)", "T${1}:00${2}")
    zoned = pl.when(timed.str.contains(_ZONE)).then(timed).otherwise(timed + "Z")
    checked = pl.when(text.str.contains(f"^{_FULL.pattern}$")).then(zoned)
    return checked.str.to_datetime("%+", time_zone="UTC", strict=False).dt.epoch("s").alias(column)


def is_iso(text: str) -> bool:
    """Return whether the text is a date or time that `unix_seconds` accepts."""
    if not _FULL.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


Notify = Callable[[str], None]
NAMES = ("user", "item", "rating", "timestamp")
ColumnNames = Mapping[str, str] | Sequence[int]
"""Names of columns by user, item, rating and timestamp, or their positions."""
FALLBACKS = (("user", "userId"), ("user", "user_id"), ("item", "movieId"), ("item", "item_id"))
"""Column names of MovieLens and of LensKit, for tables without named columns."""


@dataclass(frozen=True)
class Columns:
    """Column names of user, item, rating and (if present) time in a table."""

    user: str = "user"
    item: str = "item"
    rating: str = "rating"
    timestamp: str = "timestamp"
    are_positions: bool = False

    @classmethod
    def of(cls, names: ColumnNames | None) -> "Columns":
        """Build from `{"user": "member", ..}`, or from positions, counted from 1, of user, item,
        rating and time in a file without a header.

        Raises `RequestError` for an unknown key, for a name that is not a string, for a column with
        two names, and for positions that are not two to four different integers of at least 1.
        """
        if isinstance(names, tuple | list):
            return cls._at(names)
        must_be(Mapping, names or {}, "a mapping", "name columns as in {'user': 'member'}")
        known = dict(cast("Mapping[str, str]", names or {}))
        for name, theirs in known.items():
            if name not in NAMES:
                raise RequestError(f"The name of a column must be one of {NAMES}, got '{name}'.")
            must_be(str, theirs, "a column name", f"name the column of {name} as a string")
        columns = replace(cls(), **cast("dict[str, Any]", known))
        used = [getattr(columns, name) for name in NAMES]
        if twice := [name for name in used if used.count(name) > 1]:
            raise RequestError(
                f"The column '{twice[0]}' is used for two of {', '.join(NAMES)}; name another "
                "column for one of them."
            )
        return columns

    @classmethod
    def _at(cls, positions: Sequence[object]) -> "Columns":
        valid = [p for p in positions if isinstance(p, int) and not isinstance(p, bool) and p > 0]
        if not 2 <= len(valid) == len(positions) == len(set(valid)) <= len(NAMES):
            raise RequestError(
                "Positions of columns must be two to four different integers from 1, of user, "
                f"item, rating and time, got {', '.join(map(shown, positions))}."
            )
        return cls(**dict(zip(NAMES, map(str, valid), strict=False)), are_positions=True)

    def within(self, present: Sequence[str]) -> "Columns":
        """Return the columns of a table with these names, with usual names as a fallback."""
        usual = {
            ours: theirs
            for ours, theirs in FALLBACKS
            if getattr(self, ours) == ours and ours not in present and theirs in present
        }
        return replace(self, **usual)

    def renaming(self, present: Sequence[str]) -> dict[str, str]:
        """Map the names in the file to the standard names, for the present columns."""
        pairs = {getattr(self, name): name for name in NAMES}
        return {theirs: ours for theirs, ours in pairs.items() if theirs in present}

    def missing(self, present: Sequence[str], *, rated: bool) -> list[str]:
        """Return the missing required columns. A time and a rating are required if they were
        named explicitly, and a rating if rows are `rated`."""
        needed = [self.user, self.item]
        needed += [self.rating] if rated or self.rating != "rating" else []
        needed += [self.timestamp] if self.timestamp != "timestamp" else []
        return [name for name in needed if name not in present]


@dataclass(frozen=True)
class Request:
    """Options of the caller for a reader: the scale, if known, and the column names.

    `held_out`: the column that marks the test rows of a published split. Raises `RequestError` if
    it is one of the other columns.
    """

    grid: DeclaredScale | None = None
    columns: Columns = field(default_factory=Columns)
    held_out: str | None = None

    def __post_init__(self) -> None:
        if self.held_out is not None:
            must_be(str, self.held_out, "a column name", "name the held-out column as a string")
        if self.held_out is not None and (what := self.columns.renaming([self.held_out])):
            raise RequestError(
                f"The column '{self.held_out}' contains the {what[self.held_out]} and "
                "cannot define the held-out rows; name another column."
            )

    def renaming(self, present: Sequence[str]) -> dict[str, str]:
        """Map the names in the file to the standard names, for the columns to read."""
        mapping = self.columns.within(present).renaming(present)
        if self.held_out is not None and self.held_out in present:
            mapping[self.held_out] = "held_out"
        others = [name for name in present if name not in mapping]
        others = [] if self.columns.are_positions else others
        if len(others) == 1 and self._interactions(present) and "rating" not in mapping.values():
            mapping[others[0]] = "rating"  # weights, read so that text is rejected
        return mapping

    def missing(self, present: Sequence[str]) -> list[str]:
        """Return the missing required columns."""
        columns = self.columns.within(present)
        if self.held_out is not None and self.held_out not in present:
            # It may be a misspelt name of another column, so whether rows are rated is unknown.
            return [self.held_out, *columns.missing(present, rated=False)]
        return columns.missing(present, rated=not self._interactions(present))

    def _interactions(self, present: Sequence[str]) -> bool:
        """Return whether the declared scale is of interactions or, without a scale, whether there
        are only columns of user, item and time, or only their positions are named."""
        if self.grid is not None:
            return self.grid.has_interactions
        if self.columns.are_positions:
            return self.columns.rating == "rating"
        columns = self.columns.within(present)
        known = {columns.user, columns.item, columns.timestamp, self.held_out}
        return set(present) <= known


@dataclass(frozen=True)
class Format:
    """A format of rating files.

    `patterns`: file name patterns (lower case, without `.gz`). `looks`: whether the first bytes
    match. `frames`: the rows in file order, with columns user, item, rating and optionally
    timestamp. `scale`: the public scale of the site, None if it varies. `parts`: whether several
    files together are one data set.
    """

    name: str
    patterns: tuple[str, ...]
    looks: Callable[[Source, Request], bool]
    frames: Callable[[Sequence[Source], Request], Iterator[pl.DataFrame]]
    scale: str | None = None
    rounding: Rounding | None = None
    parts: bool = False

    def named(self, source: Source) -> bool:
        """Return whether the file name matches a pattern."""
        return any(fnmatch(source.name, pattern) for pattern in self.patterns)
