"""Which target ratings are hidden, whose, and who links the domains (Guerraoui et al. 2017).

*Straddlers* rated in the target and in a source. Some of them are tested: their target ratings are
hidden, all but a few. Of the others, who train, a share links the domains. Everything is drawn from
`numpy.random.default_rng(seed)`, always in this order and always all of it:

1. `permutation(straddlers)`, straddlers by ascending code: the first are tested, the next link;
2. `random(n)`, a number for every rating of all domains: a tested person keeps the lowest-numbered.

So a larger overlap links everybody a smaller one does, and a person who keeps more ratings still
keeps those kept before: a sweep changes one thing at a time.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.crossdomain.domains import Domains
from tacit.crossdomain.trial import Trial
from tacit.errors import RequestError
from tacit.ratings import Codes, Mask
from tacit.vocabulary import Vocabulary

Floats = NDArray[np.float32]


class HeldOut(NamedTuple):
    """A trial, and the hidden ratings on the scale, shape (n,), which no system may see."""

    trial: Trial
    values: Floats


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """`test_share` of the straddlers are tested, at least one. Of the others the share `overlap`
    links the domains. A tested person keeps `keep` target ratings, or all where they have no more.

    A person who loses the link becomes two people, one with the target ratings and one with all
    others. Nothing else changes: items keep every rating, and figures at two overlaps differ by
    what links tell, not by how much data there are. (Leaving ratings out would mix the two.) A
    promise per person is then one to each of the two. Raises `RequestError` for shares and counts
    that are none.
    """

    test_share: float = 0.2
    overlap: float = 1.0
    keep: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.test_share < 1:
            raise RequestError(f"test_share must be between 0 and 1, got {self.test_share:g}.")
        if not 0 <= self.overlap <= 1:
            raise RequestError(f"overlap must be a share from 0 to 1, got {self.overlap:g}.")
        if self.keep < 0:
            raise RequestError(f"keep must be 0 or more, got {self.keep}.")

    @property
    def words(self) -> str:
        """What is hidden, as a sentence goes on."""
        kept = f"all but {self.keep}" if self.keep else "all"
        return (
            f"{kept} target ratings of {self.test_share:.4g} of the people whom domains share; "
            f"{self.overlap:.4g} of the others link the domains"
        )

    def hide(self, domains: Domains, target: int, seed: int) -> HeldOut:
        """The trial of domain number `target`; raises `RequestError` where the domains share
        nobody, or nothing would be hidden."""
        tested, cut, order = self._drawn(domains, target, seed)
        asked = domains.rows(target) & _of(domains, tested)
        asked[_lowest(domains, asked, order, self.keep)] = False
        if not asked.any():
            raise RequestError(
                f"None of the {len(tested)} test users has more than {self.keep} ratings in "
                f"{domains.names[target]}, so nothing is held out; use a smaller keep."
            )
        ratings = domains.ratings
        known = _parted(domains.where(~asked), target, cut)
        users, items = ratings.users[asked], ratings.items[asked]
        people = np.unique(users).astype(np.int32)
        return HeldOut(Trial(known, target, people, users, items), ratings.values[asked])

    def _drawn(
        self, domains: Domains, target: int, seed: int
    ) -> tuple[Codes, Codes, NDArray[np.float64]]:
        """Who is tested, who loses the link, and a number for every rating."""
        shared = domains.straddlers(target)
        if not len(shared):
            others = " or ".join(n for d, n in enumerate(domains.names) if d != target)
            raise RequestError(
                f"No user rated both in {domains.names[target]} and in {others}, so the "
                "domains are not linked; use domains that share users under the same "
                "ids."
            )
        chance = np.random.default_rng(seed)
        shuffled = chance.permutation(shared)
        tested = max(1, round(self.test_share * len(shared)))
        linked = tested + round(self.overlap * (len(shared) - tested))
        return shuffled[:tested], shuffled[linked:], chance.random(len(domains.ratings))


def _of(domains: Domains, people: Codes) -> Mask:
    """Which ratings are theirs."""
    theirs = np.zeros(domains.ratings.n_users, np.bool_)
    theirs[people] = True
    return theirs[domains.ratings.users]


def _lowest(
    domains: Domains, rows: Mask, order: NDArray[np.float64], count: int
) -> NDArray[np.intp]:
    """The row numbers of each person's `count` lowest among `rows`."""
    places = np.flatnonzero(rows)
    users = domains.ratings.users[places]
    sorted_places = places[np.lexsort((order[places], users))]
    people = domains.ratings.users[sorted_places]
    starts = np.flatnonzero(np.append(True, people[1:] != people[:-1]))
    sizes = np.diff(np.append(starts, len(people)))
    place = np.arange(len(people)) - np.repeat(starts, sizes)
    return sorted_places[place < count]


def _parted(domains: Domains, target: int, people: Codes) -> Domains:
    """The domains with the ratings that `people` gave elsewhere moved to new people."""
    if not len(people):
        return domains
    ratings = domains.ratings
    fresh = np.arange(ratings.n_users, dtype=np.int32)
    fresh[people] = ratings.n_users + np.arange(len(people), dtype=np.int32)
    users = np.where(domains.rows(target), ratings.users, fresh[ratings.users])
    ids = Vocabulary(pl.concat([ratings.user_ids.ids, _new_ids(ratings.user_ids, people)]))
    return replace(domains, ratings=replace(ratings, users=users, user_ids=ids))


def _new_ids(known: Vocabulary, people: Codes) -> pl.Series:
    """Ids that nobody has: numbers above all, or words longer than any."""
    ids = known.ids
    if ids.dtype.is_integer():
        top = int(ids.max() or 0)  # pyright: ignore[reportArgumentType]
        return pl.Series("id", top + 1 + np.arange(len(people))).cast(ids.dtype)
    longest = "'" * (1 + int(ids.str.len_chars().max() or 0))  # pyright: ignore[reportArgumentType]
    return (known.take(people) + longest).alias("id")
