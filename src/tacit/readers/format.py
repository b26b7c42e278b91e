"""What a reader is: a declaration of how a family of files looks and how its rows come out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch

import polars as pl

from tacit.errors import RequestError
from tacit.given import must_be
from tacit.readers.levels import DeclaredScale, Rounding
from tacit.readers.source import Source

Notify = Callable[[str], None]
NAMES = ("user", "item", "rating", "timestamp")
MOVIELENS = {"user": "userId", "item": "movieId"}
"""What MovieLens calls them, in tables whose columns nobody named."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold the person, the item, the rating and (if there) the time."""

    user: str = "user"
    item: str = "item"
    rating: str = "rating"
    timestamp: str = "timestamp"

    @classmethod
    def of(cls, names: Mapping[str, str] | None) -> "Columns":
        """From `{"user": "member", ..}`; raises `RequestError` for a key that is no column, for a
        name that is no text, and for one column under two names."""
        must_be(Mapping, names or {}, "a mapping", "name columns as in {'user': 'member'}")
        for name, theirs in (names or {}).items():
            if name not in NAMES:
                raise RequestError(f"The name of a column must be one of {NAMES}, got '{name}'.")
            must_be(str, theirs, "a column name", f"name the column of {name} as a string")
        found = cls(**(names or {}))
        used = [getattr(found, name) for name in NAMES]
        if twice := [name for name in used if used.count(name) > 1]:
            raise RequestError(
                f"The column '{twice[0]}' cannot be two of {', '.join(NAMES)}; name another "
                "column for one of them."
            )
        return found

    def within(self, present: Sequence[str]) -> "Columns":
        """The columns of a table with these names: MovieLens' own names, where ours are not."""
        usual = {
            ours: theirs
            for ours, theirs in MOVIELENS.items()
            if getattr(self, ours) == ours and ours not in present and theirs in present
        }
        return replace(self, **usual)

    def renaming(self, present: Sequence[str]) -> dict[str, str]:
        """File's name -> our name, for the columns that are there."""
        pairs = {getattr(self, name): name for name in NAMES}
        return {theirs: ours for theirs, ours in pairs.items() if theirs in present}

    def missing(self, present: Sequence[str], *, rated: bool) -> list[str]:
        """The columns that must be there and are not; a time must be there once it is renamed, and
        so must a rating, which is also needed where rows are `rated`."""
        needed = [self.user, self.item]
        needed += [self.rating] if rated or self.rating != "rating" else []
        needed += [self.timestamp] if self.timestamp != "timestamp" else []
        return [name for name in needed if name not in present]


@dataclass(frozen=True)
class Request:
    """What the caller asked of a reader: the grid, where it is known, and the names of columns.

    `held_out`: the column that says what a published split keeps for the test. Raises
    `RequestError` where it is one of the others.
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
        """File's name -> our name, for the columns that are read."""
        found = self.columns.within(present).renaming(present)
        if self.held_out is not None and self.held_out in present:
            found[self.held_out] = "held_out"
        others = [name for name in present if name not in found]
        if len(others) == 1 and self._interactions(present) and "rating" not in found.values():
            found[others[0]] = "rating"  # weights: looked at, so that text is not passed over
        return found

    def missing(self, present: Sequence[str]) -> list[str]:
        """The columns that must be there and are not."""
        columns = self.columns.within(present)
        if self.held_out is not None and self.held_out not in present:
            # One of the others may be meant, so that whether rows are rated is not known.
            return [self.held_out, *columns.missing(present, rated=False)]
        return columns.missing(present, rated=not self._interactions(present))

    def _interactions(self, present: Sequence[str]) -> bool:
        """Whether the scale asked for has one level or, where none is, nothing else is there than
        person, item and perhaps time."""
        if self.grid is not None:
            return self.grid.scale.has_one_level
        columns = self.columns.within(present)
        known = {columns.user, columns.item, columns.timestamp, self.held_out}
        return set(present) <= known


@dataclass(frozen=True)
class Format:
    """A family of rating files.

    `patterns`: what such files are called (lower case, without `.gz`). `looks`: whether the first
    bytes are such a file's. `frames`: the rows in file order, as columns user, item, rating and
    perhaps timestamp. `scale`: the public scale that the site asked people to rate on; None when
    the file alone cannot tell. `parts`: several files together are one data set.
    """

    name: str
    patterns: tuple[str, ...]
    looks: Callable[[Source, Request], bool]
    frames: Callable[[Sequence[Source], Request], Iterator[pl.DataFrame]]
    scale: str | None = None
    rounding: Rounding | None = None
    parts: bool = False

    def named(self, source: Source) -> bool:
        """Whether the file is called as such files are."""
        return any(fnmatch(source.name, pattern) for pattern in self.patterns)
