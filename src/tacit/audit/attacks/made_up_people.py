"""Made-up people: what they rate beside the item that each of them pushes, and what they send.

What they rate beside it is meant to look honest: as many items as somebody's real profile has,
"popular" items in proportion to how many rated them, or "copied" from a person; or nothing
("alone"). Its stars are drawn from items' true shares and go through the channel as they should.
About the item they push, they send the symbol that speaks most for the top of the scale.
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
    """`target`: the item that each person pushes, -1 for a real one; shape (people,). `reports`:
    what all of them send."""

    target: Codes
    reports: Reports

    def by(self, group: slice, times: Codes | int = 1) -> Reports:
        """What real people and the made-up ones of `group` send, each of the latter what they push
        `times` over, shape (people of the group,)."""
        sent, often = self.reports, np.where(self.target < 0, 1, 0)
        often[group] = times
        pushed = sent.items == self.target[sent.users]
        count = often[sent.users]
        again = np.repeat(np.arange(len(sent)), np.where(pushed, count, np.minimum(count, 1)))
        return sent.take(again)


def poisoned_reports(
    world: World, channel: Channel, targets: Codes, fillers: Fillers
) -> PoisonedReports:
    """Everybody of the world, and for each of `targets`, shape (n,), one made-up person."""
    ratings, chance = world.ratings.by_person(), np.random.default_rng(world.seed)
    profiles = list(_profiles(ratings, targets, fillers, chance))
    target = np.concatenate([np.full(ratings.n_users, -1, np.int32), targets])
    everybody = _with(ratings, profiles, world.star_shares, chance)
    sent = perturb(everybody, Rated(channel), words=SeededWords(world.seed))
    symbols = np.where(sent.items == target[sent.users], highest(channel), sent.symbols)
    return PoisonedReports(target, replace(sent, symbols=symbols.astype(sent.symbols.dtype)))


def highest(channel: Channel) -> int:
    """The symbol that speaks most for the top of the scale against its bottom."""
    table = np.array(channel.likelihood)
    return int(np.argmax(table[-1] / np.maximum(table[0], 1e-300)))


def _profiles(
    ratings: Ratings, targets: Codes, fillers: Fillers, chance: np.random.Generator
) -> Iterator[Codes]:
    """The items that each made-up person rates, ascending."""
    popularity = np.bincount(ratings.items, minlength=ratings.n_items)
    shares, known = popularity / popularity.sum(), np.count_nonzero(popularity)
    owned = np.split(ratings.items, np.flatnonzero(np.diff(ratings.users)) + 1)
    for target in targets:
        beside = np.empty(0, np.int32)
        if fillers != "alone":
            beside = owned[chance.integers(len(owned))]
        if fillers == "popular":
            size = min(len(beside), known)
            beside = chance.choice(ratings.n_items, size, replace=False, p=shares)
        yield np.union1d(beside, [target]).astype(np.int32)


def _with(
    ratings: Ratings, profiles: list[Codes], stars: Doubles, chance: np.random.Generator
) -> Ratings:
    """The ratings and those of these profiles; people get new names, real ones first."""
    first, sizes = ratings.n_users, [len(profile) for profile in profiles]
    made = np.arange(first, first + len(profiles), dtype=np.int32)
    items = np.concatenate([np.empty(0, np.int32), *profiles])
    likely = np.cumsum(stars[items], axis=1)
    levels = (chance.random((len(items), 1)) * likely[:, -1:] > likely).sum(1)
    return replace(
        ratings,
        users=np.concatenate([ratings.users, np.repeat(made, sizes)]),
        items=np.concatenate([ratings.items, items]),
        levels=np.concatenate([ratings.levels, levels.astype(ratings.levels.dtype)]),
        user_ids=Vocabulary(pl.Series("id", np.arange(first + len(profiles)))),
        times=None,
        held_out=None,
    )
