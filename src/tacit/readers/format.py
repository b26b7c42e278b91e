"""What a reader is: a declaration of how a family of files looks and how its rows come out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch

import polars as pl

from tacit.errors import RequestError
from tacit.readers.levels import DeclaredScale, Rounding
from tacit.readers.source import Source

Notify = Callable[[str], None]
NAMES = ("user", "item", "rating", "timestamp")


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold the person, the item, the rating and (if there) the time."""

    user: str = "user"
    item: str = "item"
    rating: str = "rating"
    timestamp: str = "timestamp"

    @classmethod
    def of(cls, names: Mapping[str, str] | None) -> "Columns":
        """From `{"user": "member", ..}`; raises `RequestError` for a key that is no column."""
        for name in names or {}:
            if name not in NAMES:
                raise RequestError(f"There is no column '{name}' to name; choose from {NAMES}.")
        return cls(**(names or {}))

    def renaming(self, present: Sequence[str]) -> dict[str, str]:
        """File's name -> our name, for the columns that are there."""
        pairs = {getattr(self, name): name for name in NAMES}
        return {theirs: ours for theirs, ours in pairs.items() if theirs in present}

    def missing(self, present: Sequence[str]) -> list[str]:
        """The columns that must be there and are not; a time must be there once it is renamed."""
        needed = [self.user, self.item, self.rating]
        needed += [self.timestamp] if self.timestamp != "timestamp" else []
        return [name for name in needed if name not in present]


@dataclass(frozen=True)
class Request:
    """What the caller asked of a reader: the grid, where it is known, and the names of columns."""

    grid: DeclaredScale | None = None
    columns: Columns = field(default_factory=Columns)


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
