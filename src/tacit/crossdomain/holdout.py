"""Holdout of target ratings, and choice of the users that link the domains (Guerraoui et al. 2017).

*Straddlers* have ratings in the target and in a source. Some of them are test users: their target
ratings are hidden, except for a few. Of the others, for training, a share links the domains. All
draws are from `numpy.random.default_rng(seed)`, in this order and in full:

1. `permutation(straddlers)`, straddlers by ascending index: the first are tested, the next link;
2. `random(n)`, a number per rating of all domains: a test user keeps those with the lowest ones.

A larger overlap therefore includes the links of a smaller one, and a larger number of kept ratings
includes those of a smaller one: sweeps are nested.
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
    """A trial, and the hidden ratings on the scale, shape (n,), which systems do not receive."""

    trial: Trial
    values: Floats


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """A holdout protocol.

    `test_share`: share of straddlers to test, at least one. `overlap`: share of the others that
    links the domains. `keep`: number of target ratings that a test user keeps, at most all.

    A user without a link becomes two users, one with the target ratings and one with all others.
    Items keep all ratings, so that results at two overlaps differ only in the links and not in the
    amount of data, as they would if ratings were dropped. A guarantee per user then applies to each
    of the two. Raises `RequestError` for invalid shares and counts.
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
        """Description of the protocol, as a clause."""
        hidden = f"all target ratings except {self.keep}" if self.keep else "all target ratings"
        return (
            f"{hidden} of {100 * self.test_share:.4g} % of the users in both domains; "
            f"{100 * self.overlap:.4g} % of the others link the domains"
        )

    def hide(self, domains: Domains, target: int, seed: int) -> HeldOut:
        """Return the trial of domain number `target`. Raises `RequestError` if the domains share no
        users, and if no rating would be hidden."""
        tested, cut, order = self._drawn(domains, target, seed)
        hidden = domains.rows(target) & _of(domains, tested)
        hidden[_lowest(domains, hidden, order, self.keep)] = False
        if not hidden.any():
            raise RequestError(
                f"None of the {len(tested)} test users has more than {self.keep} ratings in "
                f"{domains.names[target]}, so no rating would be held out; use a smaller keep."
            )
        ratings = domains.ratings
        known = _parted(domains.where(~hidden), target, cut)
        users, items = ratings.users[hidden], ratings.items[hidden]
        people = np.unique(users).astype(np.int32)
        return HeldOut(Trial(known, target, people, users, items), ratings.values[hidden])

    def _drawn(
        self, domains: Domains, target: int, seed: int
    ) -> tuple[Codes, Codes, NDArray[np.float64]]:
        """Draw the test users, the users without a link, and a number per rating."""
        shared = domains.require_links(target)
        rng = np.random.default_rng(seed)
        shuffled = rng.permutation(shared)
        tested = max(1, round(self.test_share * len(shared)))
        linked = tested + round(self.overlap * (len(shared) - tested))
        return shuffled[:tested], shuffled[linked:], rng.random(len(domains.ratings))


def _of(domains: Domains, people: Codes) -> Mask:
    """Return the mask of these users' ratings."""
    theirs = np.zeros(domains.ratings.n_users, np.bool_)
    theirs[people] = True
    return theirs[domains.ratings.users]


def _lowest(
    domains: Domains, rows: Mask, order: NDArray[np.float64], count: int
) -> NDArray[np.intp]:
    """Return the row numbers of each user's `count` lowest ratings by `order`, among `rows`."""
    places = np.flatnonzero(rows)
    users = domains.ratings.users[places]
    sorted_places = places[np.lexsort((order[places], users))]
    people = domains.ratings.users[sorted_places]
    starts = np.flatnonzero(np.append(True, people[1:] != people[:-1]))
    sizes = np.diff(np.append(starts, len(people)))
    rank = np.arange(len(people)) - np.repeat(starts, sizes)
    return sorted_places[rank < count]


def _parted(domains: Domains, target: int, people: Codes) -> Domains:
    """Return the domains with the source ratings of `people` assigned to new users."""
    if not len(people):
        return domains
    ratings = domains.ratings
    fresh = np.arange(ratings.n_users, dtype=np.int32)
    fresh[people] = ratings.n_users + np.arange(len(people), dtype=np.int32)
    users = np.where(domains.rows(target), ratings.users, fresh[ratings.users])
    ids = Vocabulary(pl.concat([ratings.user_ids.ids, _new_ids(ratings.user_ids, people)]))
    return replace(domains, ratings=replace(ratings, users=users, user_ids=ids))


def _new_ids(known: Vocabulary, people: Codes) -> pl.Series:
    """Return unused ids: integers above the maximum, or strings longer than all others."""
    ids = known.ids
    if ids.dtype.is_integer():
        top = int(ids.max() or 0)  # pyright: ignore[reportArgumentType]
        return pl.Series("id", top + 1 + np.arange(len(people))).cast(ids.dtype)
    longest = "'" * (1 + int(ids.str.len_chars().max() or 0))  # pyright: ignore[reportArgumentType]
    return (known.take(people) + longest).alias("id")
