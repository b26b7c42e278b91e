"""The world of an attacker: true ratings that they are after, and what left the devices.

An attacker reads a channel's public table, so that what they can infer from a report is exact. To
have one form for all plans, what is seen of a (person, item) pair is one of 1 + symbols columns:
column 0 where nothing came, 1 + y where symbol y came. Rows are 0 where the person did not rate the
item, else 1 + level. `World.likelihood` has P(column | row):

    rated       column 0 shows that the item is not rated, and a symbol that it is
    catalogue   every slot has a symbol
    sample:K    column 0 says that the slot was not asked about, whatever the row
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.collection.perturb import on_scale_of, perturb
from tacit.collection.plan import Plan
from tacit.collection.slots import SlotReports
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]
Columns = NDArray[np.unsignedinteger[Any]]
Collect = Callable[[Ratings, int], SlotReports]
"""What leaves the devices of these people, in the order in which it leaves, for a seed."""


class SeededWords:
    """Words that a seed repeats: reports of an experiment protect nobody, and go nowhere."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite `words`, shape (n,)."""
        words[:] = self._chance.integers(0, 1 << 64, len(words), np.uint64)


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """`likelihood`: as above, shape (1 + levels, 1 + symbols). `silent`: the column of a pair about
    which nothing came. `channel`: None where nothing is protected. `people`: a table of people with
    a column user, for attacks on what else is known of them.
    """

    ratings: Ratings
    plan: str
    likelihood: Doubles
    silent: int
    collect: Collect
    seed: int
    channel: Channel | None = None
    people: pl.DataFrame | None = None

    @classmethod
    def through(
        cls, ratings: object, plan: Plan, seed: int, people: pl.DataFrame | None = None
    ) -> Self:
        """Everybody reports under a plan of one channel and no cap.

        `ratings`: anything that `as_ratings` takes. Raises as `as_ratings` does, and
        `RequestError` for `Ratings` that are not on the channel's scale.
        """
        own = on_scale_of(plan, ratings)
        channel = plan.channels[0]
        return cls(
            ratings=own,
            plan=plan.name,
            likelihood=likelihood(channel, plan),
            silent=1 + channel.outputs.index(None) if plan.name == "catalogue" else 0,
            collect=lambda whose, run: sent(whose, plan, run),
            seed=seed,
            channel=channel,
            people=people,
        )

    @classmethod
    def unprotected(
        cls,
        ratings: object,
        plan: str,
        seed: int,
        people: pl.DataFrame | None = None,
        *,
        scale: RatingScale | str | None = None,
    ) -> Self:
        """The provider has the ratings themselves.

        `ratings` and `scale`: as `as_ratings` takes them, and raises for them.
        """
        own = as_ratings(ratings, scale=scale)
        return cls(
            ratings=own,
            plan=plan,
            likelihood=np.eye(1 + own.scale.n_levels),
            silent=0,
            collect=lambda whose, run: bare(whose),
            seed=seed,
            people=people,
        )

    def again(self, number: int) -> Self:
        """The same people and ratings in another task: under fresh names, with fresh noise."""
        names = [f"{number}/{raw}" for raw in self.ratings.user_ids.ids.to_list()]
        renamed = replace(self.ratings, user_ids=Vocabulary(pl.Series("id", names)))
        return replace(self, ratings=renamed, seed=self.seed + 1_000_003 * number)

    def among(self, whose: NDArray[np.int32]) -> Ratings:
        """The ratings of these people, codes, as if there were nobody else."""
        kept = self.ratings.where(np.isin(self.ratings.users, whose))
        return kept.with_people(self.ratings.user_ids.ids.gather(whose))

    @property
    def hides_presence(self) -> bool:
        """Whether it is not plain from a column that an item was rated."""
        return bool((np.minimum(self.likelihood[0], self.likelihood[1:].max(0)) > 0).any())

    @cached_property
    def reports(self) -> SlotReports:
        """What left, in the order in which it left."""
        return self.collect(self.ratings, self.seed)

    @cached_property
    def columns(self) -> Columns:
        """What came of each pair, shape (people, items)."""
        shape = (self.ratings.n_users, self.ratings.n_items)
        found = np.full(shape, self.silent, np.min_scalar_type(self.likelihood.shape[1]))
        sent = self.reports
        found[sent.users, sent.items] = sent.symbols + 1
        return found

    @cached_property
    def rows(self) -> Columns:
        """The truth of each pair: 0, or 1 + level; shape (people, items)."""
        shape = (self.ratings.n_users, self.ratings.n_items)
        found = np.zeros(shape, np.min_scalar_type(self.ratings.scale.n_levels + 1))
        found[self.ratings.users, self.ratings.items] = self.ratings.levels + 1
        return found

    @cached_property
    def shares(self) -> Doubles:
        """How many of all people have each row, item by item: shape (items, 1 + levels)."""
        levels = self.ratings.scale.n_levels
        pairs = self.ratings.items.astype(np.int64) * levels + self.ratings.levels
        counts = np.bincount(pairs, minlength=self.ratings.n_items * levels)
        rated = counts.reshape(self.ratings.n_items, levels) / self.ratings.n_users
        return np.column_stack([1 - rated.sum(1), rated])

    @cached_property
    def star_shares(self) -> Doubles:
        """Of those who rated it, how many gave each level: shape (items, levels)."""
        rated = self.shares[:, 1:]
        return rated / np.maximum(rated.sum(1, keepdims=True), 1 / self.ratings.n_users)


def likelihood(channel: Channel, plan: Plan) -> Doubles:
    """P(column | row) of a plan, as the head of this file has it."""
    table = np.array(channel.likelihood)
    if not channel.missing:
        found = np.zeros((len(table) + 1, table.shape[1] + 1))
        found[0, 0], found[1:, 1:] = 1, table
        return found
    # Whether a slot was asked about says nothing: the column counts alike for every row.
    return np.column_stack([np.full(len(table), float(plan.sends_missing)), table])


def sent(ratings: Ratings, plan: Plan, seed: int) -> SlotReports:
    """What leaves everybody's devices under a plan."""
    found = perturb(ratings, plan, words=SeededWords(seed))
    return SlotReports(found.users, found.items, found.symbols, found.channel_of)


def bare(ratings: Ratings) -> SlotReports:
    """The ratings as if each level were a symbol."""
    kept = ratings.by_person()
    return SlotReports(kept.users, kept.items, kept.levels, np.zeros(len(kept), np.uint8))


def taken(reports: SlotReports, order: NDArray[np.intp]) -> SlotReports:
    """The reports of those numbers, in that order."""
    users, items, symbols, channel_of = reports
    return SlotReports(users[order], items[order], symbols[order], channel_of[order])
