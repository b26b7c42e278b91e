"""Linkage: identify the pseudonym of a user, given a few of the user's ratings.

Each name v is scored by the log-likelihood ratio of its columns if it is that user's (Narayanan and
Shmatikov 2008 with the exact likelihood of the public table):

    score(v) = sum over known items i of log P(column_vi | known row) - log P(column_vi)

where P(column_vi) is under item i's true shares. With stars, the known row is a row of the table;
without, it is the mixture of rows among the item's raters.

Linkage across tasks: match a user's pseudonym in one task to that in another.

Names are independent, and noise is fresh, but the reports are about the same ratings. Each pair of
names is scored by the log-likelihood ratio of its columns if both belong to one user:

    score = sum over items i of log P(c_i, c'_i | one user) - log P(c_i) - log P(c'_i)
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.audit.attacks.protocol import Finding, mean_error
from tacit.audit.attacks.world import Columns, Doubles, World
from tacit.errors import RequestError
from tacit.kernels.linkage import known_places, task_places

Codes = NDArray[np.int32]
Choice = Literal["random", "popular"]
TOP = (1, 10)
LEAST = 1e-300  # least probability, so that impossible events have a finite logarithm


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """Settings of the linkage attack.

    `known`: how many items of a user the attacker has, ascending. `most_victims`: a sample of this
    size is drawn from more users.

    Raises `RequestError` for a number below 1.
    """

    known: tuple[int, ...] = (2, 4, 8, 20)
    most_victims: int = 10_000

    name = "linkage"
    knows = (
        "The attacker observes all users' reports and has access to the channel's table, each "
        "item's true rating distribution, and k items that one user rated, with or without their "
        "stars."
    )
    baseline = "a guess"
    needs = "reports"

    def __post_init__(self) -> None:
        if not self.known or min(self.known) < 1 or self.most_victims < 1:
            raise RequestError(
                f"known and most_victims must be at least 1, got known {self.known} and "
                f"most_victims {self.most_victims}."
            )

    def run(self, world: World) -> list[Finding]:
        """Return the expected top-1 and top-10 over victims with enough ratings, ties at random."""
        rng = np.random.default_rng(world.seed)
        victims = drawn(world, self.most_victims, rng)
        columns = np.ascontiguousarray(world.columns.T)
        stops = np.array(sorted(self.known), np.int32)
        findings: list[Finding] = []
        for how in ("random", "popular"):
            known = known_items(world, victims, int(stops[-1]), how, rng)
            for stars in (True, False):
                weights = log_ratios(world, stars=stars)
                rows = known_rows(world.rows, victims, known) * stars
                better, ties = np.zeros((2, len(victims), len(stops)), np.int32)
                known_places(victims, known, rows, stops, columns, weights, better, ties)
                what = f"{how} items {'with' if stars else 'without'} stars"
                for s, k in enumerate(stops.tolist()):
                    findings += places(f"{k} {what}", better[:, s], ties[:, s], world)
        return findings


def drawn(world: World, most: int, rng: np.random.Generator) -> Codes:
    """Sample at most `most` users with a rating; codes, ascending."""
    people = np.unique(world.ratings.users).astype(np.int32)
    return np.sort(rng.permutation(people)[:most]) if len(people) > most else people


def known_items(
    world: World, victims: Codes, most: int, how: Choice, rng: np.random.Generator
) -> Codes:
    """Return items that each victim rated, -1 where they have no more. Shape (victims, most).

    `how`: random items, or those with most raters.
    """
    ratings = world.ratings
    popularity = np.bincount(ratings.items, minlength=ratings.n_items)
    key = rng.random(len(ratings)) if how == "random" else -popularity[ratings.items]
    order = np.lexsort((ratings.items, key, ratings.users))
    starts = np.searchsorted(ratings.users[order], np.arange(ratings.n_users + 1))
    position = np.arange(len(ratings)) - starts[ratings.users[order]]
    table = np.full((ratings.n_users, most), -1, np.int32)
    first = position < most
    table[ratings.users[order][first], position[first]] = ratings.items[order][first]
    return table[victims]


def known_rows(rows: Columns, victims: Codes, known: Codes) -> Codes:
    """Return the row of each known item: 1 + level; shape (victims, most)."""
    return rows[victims[:, None], np.maximum(known, 0)].astype(np.int32)


def log_ratios(world: World, *, stars: bool) -> Doubles:
    """Return log P(column | known row) - log P(column), shape (items, 1 + levels, columns).

    Row 0 is of an item that is known to be rated, with unknown stars.
    """
    table = np.log(np.maximum(world.likelihood, LEAST))
    alone = np.log(np.maximum(world.shares @ world.likelihood, LEAST))
    ratios = table[None] - alone[:, None]
    if not stars:
        mixture = world.star_shares @ world.likelihood[1:]
        ratios[:, 0] = np.log(np.maximum(mixture, LEAST)) - alone
    return ratios


def places(setting: str, better: Codes, ties: Codes, world: World) -> list[Finding]:
    """Return top-1 and top-10 of victims with enough known items (`ties` above 0)."""
    some = ties > 0
    count, people = int(some.sum()), world.ratings.n_users
    if count == 0:
        return []
    findings: list[Finding] = []
    for top in TOP:
        hits = np.clip((top - better[some]) / ties[some], 0, 1)
        findings.append(
            Finding(
                setting=setting,
                figure=f"top-{top}",
                value=float(hits.mean()),
                baseline=min(1.0, top / people),
                count=count,
                error=mean_error(hits),
            )
        )
    return findings


@dataclass(frozen=True, kw_only=True)
class TwoTasks:
    """`most_victims`: a sample of this size is drawn from more users.

    Raises `RequestError` for fewer than one.
    """

    most_victims: int = 400

    name = "two-tasks"
    knows = (
        "The attacker observes all users' reports for two tasks with the same items, under "
        "unrelated pseudonyms, and has access to the channel's table and each item's true rating "
        "distribution."
    )
    baseline = "a guess"
    needs = "reports"

    def __post_init__(self) -> None:
        if self.most_victims < 1:
            raise RequestError(f"most_victims must be at least 1, got {self.most_victims}.")

    def run(self, world: World) -> list[Finding]:
        """Return the expected top-1 and top-10 of a name in the second task, ties at random."""
        victims = drawn(world, self.most_victims, np.random.default_rng(world.seed))
        second = np.ascontiguousarray(world.again(1).columns.T)
        better, ties = np.zeros((2, len(victims), 1), np.int32)
        task_places(victims, world.columns, second, pair_ratios(world), better, ties)
        return places("the same ratings in two tasks", better[:, 0], ties[:, 0], world)


def pair_ratios(world: World) -> Doubles:
    """Return log P(c, c' | one user) - log P(c) - log P(c'), shape (items, columns, columns)."""
    table = world.likelihood
    joint = np.einsum("ix,xa,xb->iab", world.shares, table, table, optimize=True)
    alone = np.log(np.maximum(world.shares @ table, LEAST))
    return np.log(np.maximum(joint, LEAST)) - alone[:, :, None] - alone[:, None, :]
