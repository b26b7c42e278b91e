"""Linkage and pool inference at the limit of a chain of tasks: all answers of a user to it.

A chain has one name per user, so its answers add up: those of a task that asks for K slots of n
items grow with the catalogue, up to the limit (`tacit.wire.tasks.blocks.slot_limit`). Which items a
device is queried about is public, but independent of ratings.

Linkage identifies the name of a user by some of the user's items (`tacit.audit.attacks.linkage`).
The device is queried about q of the known items. Any report at epsilon is a function of one by
binary randomized response (Kairouz, Oh and Viswanath 2015), of which B of q are as the user's items
suggest. The right one of m names is therefore guessed with a probability of at most

    E[max over m names of e^(epsilon (2 B - q))] / m,
    q ~ Binomial(known, queried fraction),    B ~ Binomial(q, 1 / (1 + e^epsilon))

if other users have the items like random users.

Pool inference (Gadotti et al. 2022) finds which of two public pools of items, such as genres, a
user prefers: all answers about a pool are evidence. The epsilon of slots adds up, so the AUC is at
most that of epsilon times their number.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds
from scipy.stats import binom

from tacit.audit.attacks.linkage import (
    LEAST,
    drawn,
    known_items,
    known_rows,
    log_ratios,
    places,
)
from tacit.audit.attacks.protocol import Finding
from tacit.audit.attacks.world import Doubles, World
from tacit.collection.plans import Sample
from tacit.errors import RequestError
from tacit.kernels.linkage import known_places
from tacit.metrics.separation import auc, auc_error
from tacit.wire.tasks.blocks import slot_limit, threshold_of

YEAR = 1.68
"""Growth of a catalogue by 1 % a week in a year."""
LARGEST = 700.0
"""Largest exponent."""


class Answers(NamedTuple):
    """Reports under one name. `slots`: of a user, None for public presence. `text`: in words."""

    world: World
    slots: int | None
    text: str


def answers(world: World, growth: float) -> Iterator[Answers]:
    """Yield the reports to the scenario's task, and those at the limit of a chain of tasks.

    The items of the scenario are those at the chain's end. Without a sample of slots, a device
    answers for each item in any case.
    """
    kind, _, number = world.plan.partition(":")
    if world.channel is None or not world.channel.missing:
        yield Answers(world, None, "all ratings")
    elif kind != "sample":
        yield Answers(world, world.ratings.n_items, "all slots")
    else:
        slots, items = int(number), world.ratings.n_items
        first = max(round(items / growth), slots)
        limit = min(slot_limit(threshold_of(slots, first), items), items)
        yield Answers(world, slots, f"{slots} slots of a task")
        if limit > slots:
            end = World.through(world.ratings, Sample(world.channel, limit), world.seed)
            yield Answers(end, limit, f"{limit} slots at the limit of a chain")


def _require(growth: float, least: int, names: str) -> None:
    if growth < 1 or least < 1:
        raise RequestError(f"{names} must be at least 1, got growth {growth:g} and {least}.")


@dataclass(frozen=True, kw_only=True)
class ChainLinkage:
    """Settings of the linkage of a name at the limit of a chain.

    `known`: how many items of a user the attacker has, ascending. `growth`: factor by which the
    catalogue grows. `most_victims`: a sample of this size is drawn from more users.

    Raises `RequestError` for a number below 1.
    """

    known: tuple[int, ...] = (4, 20)
    growth: float = YEAR
    most_victims: int = 2_000

    name = "chain-linkage"
    knows = (
        "The attacker observes all users' reports, to one task and at the limit of a chain of "
        "tasks under one name, and has access to the channel's table, each item's true rating "
        "distribution, and k items that one user rated, with their stars."
    )
    baseline = "a guess"
    needs = "reports"

    def __post_init__(self) -> None:
        least = min((*self.known, self.most_victims)) if self.known else 0
        _require(self.growth, least, "known, growth and most_victims")

    def run(self, world: World) -> list[Finding]:
        """Return the expected top-1 over victims with enough ratings, ties at random."""
        rng = np.random.default_rng(world.seed)
        victims = drawn(world, self.most_victims, rng)
        stops = np.array(sorted(self.known), np.int32)
        known = known_items(world, victims, int(stops[-1]), "random", rng)
        rows = known_rows(world.rows, victims, known)
        findings: list[Finding] = []
        for each in answers(world, self.growth):
            columns = np.ascontiguousarray(each.world.columns.T)
            better, ties = np.zeros((2, len(victims), len(stops)), np.int32)
            weights = log_ratios(each.world, stars=True)
            known_places(victims, known, rows, stops, columns, weights, better, ties)
            for s, k in enumerate(stops.tolist()):
                top = places(f"{k} items, {each.text}", better[:, s], ties[:, s], each.world)[:1]
                findings += [replace(finding, bound=_linkage_bound(each, k)) for finding in top]
        return findings


def _linkage_bound(reports: Answers, known: int) -> float | None:
    """Return the largest probability of a right name; None where presence is public."""
    channel, names = reports.world.channel, reports.world.ratings.n_users
    if channel is None or reports.slots is None:
        return None
    epsilon, share = float(channel.epsilon), reports.slots / reports.world.ratings.n_items
    chances = np.zeros(2 * known + 1)  # of 2 B - q, from -known to known
    for queried in range(known + 1):
        agreed = np.arange(queried + 1)
        likely = binom.pmf(agreed, queried, 1 / (1 + math.exp(min(epsilon, LARGEST))))
        chances[known - queried + 2 * agreed] += binom.pmf(queried, known, share) * likely
    # From the top: events of 1e-30 whose gain is e^60 count.
    tails = np.minimum(np.cumsum(chances[::-1])[::-1], 1 - np.finfo(np.float64).eps)
    reached = -np.expm1(names * np.log1p(-tails))
    gains = np.exp(np.clip(epsilon * np.arange(-known, known + 1), -LARGEST, LARGEST))
    return min(1.0, float(np.diff(gains, prepend=0.0) @ reached) / names)


@dataclass(frozen=True, kw_only=True)
class PoolInference:
    """Settings of the attack on preferred pools.

    `growth`: factor by which the catalogue grows. `fewest`: fewest ratings of a user whose
    preference is inferred.

    Raises `RequestError` for a number below 1.
    """

    growth: float = YEAR
    fewest: int = 10

    name = "pools"
    knows = (
        "The attacker observes all reports of a user, to one task and at the limit of a chain of "
        "tasks under one name, and has access to the channel's table, each item's true rating "
        "distribution, and two public pools of items, of which the user prefers one."
    )
    baseline = "a guess"
    needs = "reports"

    def __post_init__(self) -> None:
        _require(self.growth, self.fewest, "growth and fewest")

    def run(self, world: World) -> list[Finding]:
        """Return the AUC of the preferred pool, of users whose preference is clearest."""
        side = pools(world)
        lean = preferences(world.rows > 0, side, self.fewest)
        if np.isnan(lean).all():
            return []
        clear = np.flatnonzero(np.abs(lean) >= np.nanmedian(np.abs(lean)))
        inside = lean[clear] > 0
        findings: list[Finding] = []
        for each in answers(world, self.growth):
            scores = _evidence(each.world) @ side
            value = auc(scores[clear], inside)
            if math.isfinite(value):
                findings.append(
                    Finding(
                        setting=each.text,
                        figure="AUC",
                        value=value,
                        baseline=0.5,
                        bound=_pool_bound(each),
                        error=auc_error(int(inside.sum()), int((~inside).sum())),
                        count=len(clear),
                    )
                )
        return findings


def pools(world: World) -> Doubles:
    """Return 1 or -1 for each item: two groups of items that the same users rate, shape (items,).

    A stand-in for genres: the signs of the second singular vector of presence. All 1 for one user
    or one item.
    """
    ratings = world.ratings
    shape = (ratings.n_users, ratings.n_items)
    ones = np.ones(len(ratings))
    rated = csr_array((ones, (ratings.users, ratings.items)), shape=shape)
    people, items = (np.maximum(rated.sum(axis), 1.0) ** -0.5 for axis in (1, 0))
    scaled = diags_array(people) @ rated @ diags_array(items)
    if min(shape) < 2:
        return np.ones(ratings.n_items)
    if min(shape) == 2:  # the iterative solver does not compute all of them
        _, values, right = np.linalg.svd(scaled.toarray(), full_matrices=False)
    else:
        _, values, right = svds(scaled, k=2, v0=np.ones(min(shape)))
    return np.where(right[int(np.argmin(values))] >= 0, 1.0, -1.0)


def preferences(rated: NDArray[np.bool_], side: Doubles, fewest: int) -> Doubles:
    """Return by how much more a user rates items of one pool than all users do, shape (users,).

    NaN for users with fewer ratings than `fewest`.
    """
    counts = rated.sum(1)
    lean = (rated @ side) / np.maximum(counts, 1) - float(rated.sum(0) @ side) / rated.sum()
    return np.where(counts >= fewest, lean, np.nan)


def _evidence(world: World) -> Doubles:
    """Return the log-likelihood ratio of "rated" for each pair, centred by item."""
    table, stars = world.likelihood, world.star_shares
    is_rated = np.log(np.maximum(stars @ table[1:], LEAST)) - np.log(np.maximum(table[0], LEAST))
    ratios = is_rated[np.arange(is_rated.shape[0]), world.columns]
    return ratios - ratios.mean(0)


def _pool_bound(reports: Answers) -> float | None:
    """Return the largest AUC for the epsilon of all slots of a user."""
    if reports.world.channel is None or reports.slots is None:
        return None
    total = float(reports.world.channel.epsilon) * reports.slots
    return 1 / (1 + math.exp(-min(total, LARGEST)))
