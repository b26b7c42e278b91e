"""Declarations of file formats: how to recognize and how to parse them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch

import polars as pl

from tacit.errors import RequestError, must_be
from tacit.readers.levels import DeclaredScale, Rounding
from tacit.readers.source import Source

Notify = Callable[[str], None]
NAMES = ("user", "item", "rating", "timestamp")
MOVIELENS = {"user": "userId", "item": "movieId"}
"""Column names of MovieLens, the fallback for tables without named columns."""


@dataclass(frozen=True)
class Columns:
    """Column names of user, item, rating and (if present) time in a table."""

    user: str = "user"
    item: str = "item"
    rating: str = "rating"
    timestamp: str = "timestamp"

    @classmethod
    def of(cls, names: Mapping[str, str] | None) -> "Columns":
        """Build from `{"user": "member", ..}`. Raises `RequestError` for an unknown key, for a name
        that is not a string, and for a column with two names."""
        must_be(Mapping, names or {}, "a mapping", "name columns as in {'user': 'member'}")
        for name, theirs in (names or {}).items():
            if name not in NAMES:
                raise RequestError(f"The name of a column must be one of {NAMES}, got '{name}'.")
            must_be(str, theirs, "a column name", f"name the column of {name} as a string")
        columns = cls(**(names or {}))
        used = [getattr(columns, name) for name in NAMES]
        if twice := [name for name in used if used.count(name) > 1]:
            raise RequestError(
                f"The column '{twice[0]}' is used for two of {', '.join(NAMES)}; name another "
                "column for one of them."
            )
        return columns

    def within(self, present: Sequence[str]) -> "Columns":
        """Return the columns of a table with these names, with MovieLens names as a fallback."""
        usual = {
            ours: theirs
            for ours, theirs in MOVIELENS.items()
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
        """Return whether the declared scale has one level or, without a scale, whether there are
        only columns of user, item and time."""
        if self.grid is not None:
            return self.grid.scale.has_one_level
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
