"""Attack scenarios: the true ratings that attackers infer, and the reports that they observe.

An attacker has a channel's public table, so inference from a report is exact. In one form for all
plans, the observation of a (user, item) pair is one of 1 + symbols columns: column 0 without a
report, 1 + y for symbol y. Rows are 0 for an unrated item, else 1 + level. `World.likelihood` has
P(column | row):

    rated       column 0 reveals that the item is unrated, and a symbol that it is rated
    catalogue   every slot has a symbol
    sample:K    column 0 means that the slot was not queried, whatever the row

Fake users of a poisoning attack: their filler items, and their reports.

Filler profiles imitate genuine ones: as many items as a real profile has, "popular" items in
proportion to their raters, or "copied" from a user; or none ("alone"). Stars of fillers are drawn
from items' true shares and are randomized by the channel as required. About the target item, fake
users send the symbol that is the strongest evidence for the top of the scale.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.channels.table import Channel
from tacit.collection.perturb import on_scale_of, perturb
from tacit.collection.plan import Plan
from tacit.collection.plans import Rated
from tacit.collection.slots import SlotReports
from tacit.ratings import Ratings
from tacit.readers import as_ratings
from tacit.reports import Reports
from tacit.scale import RatingScale
from tacit.vocabulary import Vocabulary

Doubles = NDArray[np.float64]
Columns = NDArray[np.unsignedinteger[Any]]
Collect = Callable[[Ratings, int], SlotReports]
"""Return the reports of these users, in order of transmission, for a seed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """An attack scenario.

    `likelihood`: as above, shape (1 + levels, 1 + symbols). `silent`: column of a pair without a
    report. `collect`: simulates the devices. `channel`: None without protection. `people`: a table
    of users with a column user, for attribute inference.
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
        """Return the scenario where all users report under a plan of one channel without a cap.

        `ratings`: anything that `as_ratings` accepts. Raises as `as_ratings` does, and
        `RequestError` for `Ratings` that are not on the channel's scale.
        """
        private_ratings = on_scale_of(plan, ratings)
        channel = plan.channels[0]
        return cls(
            ratings=private_ratings,
            plan=plan.name,
            likelihood=likelihood(channel, plan),
            silent=1 + channel.outputs.index(None) if plan.name == "catalogue" else 0,
            collect=lambda users, run: sent(users, plan, run),
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
        """Return the scenario where the provider has the ratings themselves.

        `ratings`, `scale`: as for `as_ratings`, which also determines the errors.
        """
        private_ratings = as_ratings(ratings, scale=scale)
        return cls(
            ratings=private_ratings,
            plan=plan,
            likelihood=np.eye(1 + private_ratings.scale.n_levels),
            silent=0,
            collect=lambda users, run: bare(users),
            seed=seed,
            people=people,
        )

    def again(self, number: int) -> Self:
        """Return the same users and ratings in another task, with fresh names and fresh noise."""
        names = [f"{number}/{raw}" for raw in self.ratings.user_ids.ids.to_list()]
        renamed = replace(self.ratings, user_ids=Vocabulary(pl.Series("id", names)))
        return replace(self, ratings=renamed, seed=self.seed + 1_000_003 * number)

    def among(self, users: NDArray[np.int32]) -> Ratings:
        """Return the ratings of these users (codes) alone."""
        selected = self.ratings.where(np.isin(self.ratings.users, users))
        return selected.with_people(self.ratings.user_ids.ids.gather(users))

    @property
    def hides_presence(self) -> bool:
        """Whether a column does not reveal if an item was rated."""
        return bool((np.minimum(self.likelihood[0], self.likelihood[1:].max(0)) > 0).any())

    @cached_property
    def reports(self) -> SlotReports:
        """All reports, in order of transmission."""
        return self.collect(self.ratings, self.seed)

    @cached_property
    def columns(self) -> Columns:
        """Column of each pair, shape (users, items)."""
        shape = (self.ratings.n_users, self.ratings.n_items)
        columns = np.full(shape, self.silent, np.min_scalar_type(self.likelihood.shape[1]))
        sent = self.reports
        columns[sent.users, sent.items] = sent.symbols.astype(columns.dtype) + 1
        return columns

    @cached_property
    def rows(self) -> Columns:
        """True row of each pair: 0, or 1 + level; shape (users, items)."""
        shape = (self.ratings.n_users, self.ratings.n_items)
        rows = np.zeros(shape, np.min_scalar_type(self.ratings.scale.n_levels + 1))
        rows[self.ratings.users, self.ratings.items] = self.ratings.levels.astype(rows.dtype) + 1
        return rows

    @cached_property
    def shares(self) -> Doubles:
        """Fraction of all users with each row, per item: shape (items, 1 + levels)."""
        levels = self.ratings.scale.n_levels
        pairs = self.ratings.items.astype(np.int64) * levels + self.ratings.levels
        counts = np.bincount(pairs, minlength=self.ratings.n_items * levels)
        rated = counts.reshape(self.ratings.n_items, levels) / self.ratings.n_users
        return np.column_stack([1 - rated.sum(1), rated])

    @cached_property
    def star_shares(self) -> Doubles:
        """Fraction of an item's raters with each level: shape (items, levels)."""
        rated = self.shares[:, 1:]
        return rated / np.maximum(rated.sum(1, keepdims=True), 1 / self.ratings.n_users)


def likelihood(channel: Channel, plan: Plan) -> Doubles:
    """Return P(column | row) of a plan, as defined at the top of this module."""
    table = np.array(channel.likelihood)
    if not channel.missing:
        extended = np.zeros((len(table) + 1, table.shape[1] + 1))
        extended[0, 0], extended[1:, 1:] = 1, table
        return extended
    # Whether a slot was queried carries no information: the column counts alike for every row.
    return np.column_stack([np.full(len(table), float(plan.sends_missing)), table])


def sent(ratings: Ratings, plan: Plan, seed: int) -> SlotReports:
    """Return the reports of all devices under a plan."""
    reports = perturb(ratings, plan, simulate_seed=seed)
    return SlotReports(reports.users, reports.items, reports.symbols, reports.channel_of)


def bare(ratings: Ratings) -> SlotReports:
    """Return the ratings as reports, with levels as symbols."""
    ordered = ratings.by_person()
    return SlotReports(
        ordered.users, ordered.items, ordered.levels, np.zeros(len(ordered), np.uint8)
    )


def taken(reports: SlotReports, order: NDArray[np.intp]) -> SlotReports:
    """Return the reports at these indices, in that order."""
    users, items, symbols, channel_of = reports
    return SlotReports(users[order], items[order], symbols[order], channel_of[order])


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
    sent = perturb(everybody, Rated(channel), simulate_seed=world.seed)
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
