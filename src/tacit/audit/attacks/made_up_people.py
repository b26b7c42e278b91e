"""Fake users of a poisoning attack: their filler items, and their reports.

Filler profiles imitate genuine ones: as many items as a real profile has, "popular" items in
proportion to their raters, or "copied" from a user; or none ("alone"). Stars of fillers are drawn
from items' true shares and are randomized by the channel as required. About the target item, fake
users send the symbol that is the strongest evidence for the top of the scale.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.audit.attacks.world import Doubles, SeededWords, World
from tacit.channels.table import Channel
from tacit.collection.perturb import perturb
from tacit.collection.rated import Rated
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.vocabulary import Vocabulary

Codes = NDArray[np.int32]
Fillers = Literal["popular", "copied", "alone"]


@dataclass(frozen=True, eq=False)
class PoisonedReports:
    """Reports of real and fake users.

    `target`: item that each user promotes, -1 for a real one; shape (users,). `reports`: of all of
    them.
    """

    target: Codes
    reports: Reports

    def by(self, group: slice, times: Codes | int = 1) -> Reports:
        """Return the reports of real users and of the fake ones in `group`.

        `times`: how often each of the latter repeats the report on its target, shape (users of the
        group,).
        """
        sent, often = self.reports, np.where(self.target < 0, 1, 0)
        often[group] = times
        pushed = sent.items == self.target[sent.users]
        count = often[sent.users]
        again = np.repeat(np.arange(len(sent)), np.where(pushed, count, np.minimum(count, 1)))
        return sent.take(again)


def poisoned_reports(
    world: World, channel: Channel, targets: Codes, fillers: Fillers
) -> PoisonedReports:
    """Return reports of all users of the scenario, and of one fake user per entry of `targets`."""
    ratings, rng = world.ratings.by_person(), np.random.default_rng(world.seed)
    profiles = list(_profiles(ratings, targets, fillers, rng))
    target = np.concatenate([np.full(ratings.n_users, -1, np.int32), targets])
    everybody = _with(ratings, profiles, world.star_shares, rng)
    sent = perturb(everybody, Rated(channel), words=SeededWords(world.seed))
    symbols = np.where(sent.items == target[sent.users], highest(channel), sent.symbols)
    return PoisonedReports(target, replace(sent, symbols=symbols.astype(sent.symbols.dtype)))


def highest(channel: Channel) -> int:
    """Return the symbol that is the strongest evidence for the top of the scale."""
    table = np.array(channel.likelihood)
    return int(np.argmax(table[-1] / np.maximum(table[0], 1e-300)))


def _profiles(
    ratings: Ratings, targets: Codes, fillers: Fillers, rng: np.random.Generator
) -> Iterator[Codes]:
    """Yield the items that each fake user rates, ascending."""
    popularity = np.bincount(ratings.items, minlength=ratings.n_items)
    shares, known = popularity / popularity.sum(), np.count_nonzero(popularity)
    owned = np.split(ratings.items, np.flatnonzero(np.diff(ratings.users)) + 1)
    for target in targets:
        fillers_of_user = np.empty(0, np.int32)
        if fillers != "alone":
            fillers_of_user = owned[rng.integers(len(owned))]
        if fillers == "popular":
            size = min(len(fillers_of_user), known)
            fillers_of_user = rng.choice(ratings.n_items, size, replace=False, p=shares)
        yield np.union1d(fillers_of_user, [target]).astype(np.int32)


def _with(
    ratings: Ratings, profiles: list[Codes], stars: Doubles, rng: np.random.Generator
) -> Ratings:
    """Append the ratings of these profiles; users get new names, real ones first."""
    first, sizes = ratings.n_users, [len(profile) for profile in profiles]
    made = np.arange(first, first + len(profiles), dtype=np.int32)
    items = np.concatenate([np.empty(0, np.int32), *profiles])
    likely = np.cumsum(stars[items], axis=1)
    levels = (rng.random((len(items), 1)) * likely[:, -1:] > likely).sum(1)
    return replace(
        ratings,
        users=np.concatenate([ratings.users, np.repeat(made, sizes)]),
        items=np.concatenate([ratings.items, items]),
        levels=np.concatenate([ratings.levels, levels.astype(ratings.levels.dtype)]),
        user_ids=Vocabulary(pl.Series("id", np.arange(first + len(profiles)))),
        times=None,
        held_out=None,
    )
