"""A paper: its studies, its errors, and what it is measured on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from tacit.collection.public_hash import hashes
from tacit.crossdomain.domains import Domains
from tacit.errors import RequestError
from tacit.ratings import Ratings
from tacit_studies.claim import Correction, StudyResult
from tacit_studies.kept import Kept
from tacit_studies.settings import with_settings

Data = Any
"""What a paper is measured on: `Ratings`, or `Domains` for one about two of them."""


class Study(Protocol):
    """A figure, table or theorem measured again: a frozen dataclass of settings.

    `covers`: the figures, tables and theorems, as the coverage page names them. `own_data`: what
    the study uses instead of the ratings given. Empty for a study that reads those.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    covers: ClassVar[tuple[str, ...]]
    own_data: ClassVar[str]

    def find(self, data: Data, kept: Kept) -> StudyResult:
        """Measure what `kept` lacks. `data` are those of the paper, None with `own_data`."""
        ...


@dataclass(frozen=True)
class Paper:
    """`reference`: authors, title and year. `studies` in the order of the paper, and the same
    `quick`, in a minute or two. `made_up`: what to measure on where nothing is given, at the
    paper's size or at a quick one's. `taken`: what is measured on, out of the ratings given, one a
    file, and a table of items, which is read where `genres` cut one set of ratings in two."""

    name: str
    reference: str
    studies: tuple[Study, ...]
    quick: tuple[Study, ...]
    corrections: tuple[Correction, ...]
    made_up: Callable[[bool], Data]
    taken: Callable[[Sequence[Ratings], Any], Data]
    genres: bool = False

    def chosen(
        self,
        only: Sequence[str] | None = None,
        *,
        quick: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> tuple[Study, ...]:
        """The studies of those names, all without `only`, with some settings changed.

        Raises `RequestError` for a name that no study has, and for a setting that none of the
        chosen has.
        """
        every = self.quick if quick else self.studies
        names = [study.name for study in every]
        for name in only or ():
            if name not in names:
                raise RequestError(
                    f"A study of {self.name} must be one of {', '.join(names)}, got '{name}'."
                )
        chosen = [study for study in every if not only or study.name in only]
        return with_settings(chosen, settings or {})

    def find(
        self, data: Data, studies: Sequence[Study], folder: Path | None = None
    ) -> Iterator[tuple[Study, StudyResult]]:
        """Yield each study with its result. Rows are stored in the `folder`, if any.

        `data` reach only the studies that read them, and may be None if none does.
        """
        for study in studies:
            reads = not study.own_data
            kept = Kept(folder, ratings_of(data).fingerprint if reads else "")
            yield study, study.find(data if reads else None, kept)


def ratings_of(data: Data) -> Ratings:
    """All ratings of what a paper is measured on."""
    return data.ratings if isinstance(data, Domains) else data


def whole_profiles(ratings: Ratings, most: int) -> Ratings:
    """Return complete profiles, in the order of their public hashes, of up to `most` ratings."""
    order = np.argsort(hashes(ratings.user_ids))
    counts = np.bincount(ratings.users, minlength=ratings.n_users)[order]
    chosen = np.zeros(ratings.n_users, np.bool_)
    chosen[order[np.cumsum(counts) <= most]] = True
    return ratings.where(chosen[ratings.users])


def one_set(name: str) -> Callable[[Sequence[Ratings], Any], Ratings]:
    """What takes one set of ratings for a paper of that name; raises `RequestError` for more."""

    def taken(given: Sequence[Ratings], items: Any) -> Ratings:
        if len(given) != 1:
            raise RequestError(
                f"The paper {name} uses one set of ratings, got {len(given)}; run it once for each."
            )
        return given[0]

    return taken
