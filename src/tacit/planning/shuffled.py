"""Lists from shuffled messages before data collection: dummies, bytes and NDCG@20 of a shape.

The users are synthetic, with interactions that depend on taste (`tacit.readers.synthetic`). If
there are more users than can be simulated, every simulated user has several devices, each with its
own draws. The messages of all devices are thus simulated, with all of their noise, and the sampling
error is that of the simulated users.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isqrt
from typing import Any, Self

import numpy as np

from tacit.collection.shuffled_plan import ShuffledPlan, largest_delta
from tacit.experiments.results import checked, plain
from tacit.learners import fit
from tacit.metrics.lists import LENGTH, list_figures
from tacit.models.lists.item_weights import ItemWeights
from tacit.planning.population import Population
from tacit.privacy.guarantee import Trust
from tacit.privacy.shuffled_messages import ShuffledRound
from tacit.progress import Progress
from tacit.ratings import Ratings
from tacit.readers.synthetic import FEWEST, synthetic
from tacit.reporting.table import NOTHING, Table
from tacit.training import ShuffledEase, ShuffledPopularity
from tacit.training.shuffled.settings import plan_for
from tacit.training.shuffled.simulation import SimulatedDevices
from tacit.wire.shuffled.task import SEALED_BYTES

HELD_OUT = 0.2
WITHOUT_PRIVACY = ("popularity", "ease")
"""References, on the interactions of all simulated users."""


@dataclass(frozen=True, kw_only=True)
class ShuffledPlanRow:
    """One trainer with its messages and the expected NDCG@20 of its lists.

    `epsilon`, `empty_epsilon`: nats per user at `delta`, for a profile replaced by any other one,
    and against an empty one. None without privacy. Messages and dummies are those of a device,
    about items and about pairs. `head`: items with pairs, 0 without a round about pairs.
    `upload_bytes`: of both bundles, without HTTP. `simulated_people` users have `devices_each`
    devices each.
    """

    way: str
    trust: Trust
    epsilon: float | None
    empty_epsilon: float | None
    delta: float
    item_messages: int
    item_dummies: int
    head: int
    pair_messages: int
    pair_dummies: int
    upload_bytes: int
    ndcg_at_20: float
    simulated_people: int
    devices_each: int

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, values, ()))


@dataclass(frozen=True, eq=False)
class ListWorld:
    """Synthetic interactions. `train`: on the devices. `test`: a fifth, held out."""

    train: Ratings
    test: Ratings

    def ndcg(self, weights: ItemWeights) -> float:
        """Return NDCG@20 of the lists that devices complete with these weights."""
        lists = replace(fit("popularity", self.train), weights=weights).lists(self.train, LENGTH)
        counts = np.bincount(self.train.items, minlength=self.train.n_items)
        return list_figures(lists, self.test.users, self.test.items, counts).ndcg


@dataclass(frozen=True, kw_only=True)
class ShuffledForecast:
    """A population under the plan `shuffled:M`, with M = `messages`.

    `epsilon`: nats per user, for a profile replaced by any other one. `delta`: at most .01 over the
    bundles, which it is by default. Both are decimal strings. The trainers have their default
    turnout and honest fraction.

    Raises `RequestError` for invalid numbers.
    """

    population: Population
    messages: int
    epsilon: str
    delta: str | None = None

    def __post_init__(self) -> None:
        for trainer in self.trainers:
            self.plan(trainer)

    @property
    def trainers(self) -> tuple[ShuffledEase, ShuffledPopularity]:
        """Trainers of the plan."""
        return ShuffledEase(messages=self.messages), ShuffledPopularity(messages=self.messages)

    def plan(self, trainer: ShuffledEase | ShuffledPopularity) -> ShuffledPlan:
        """Return the rounds of a trainer. Raises `RequestError` for invalid numbers."""
        people = self.simulated * self.devices_each
        delta = self.delta or largest_delta(int(trainer.turnout * people))
        return plan_for(trainer, people, self.population.items, self.epsilon, delta)

    @property
    def devices_each(self) -> int:
        """Devices of a simulated user."""
        return ceil(self.population.people / self.population.simulated)

    @property
    def simulated(self) -> int:
        """Number of simulated users. With their devices, nearly as many as the population."""
        return self.population.people // self.devices_each

    def world(self, seed: int) -> ListWorld:
        """Generate the interactions of a seed."""
        each = self.population.ratings_each
        fewest = max(1, min(FEWEST, 2 * each // 3))
        shape = (self.simulated, self.population.items, self.simulated * each)
        ratings = synthetic(*shape, "there", seed, fewest=fewest)
        held_out = np.random.default_rng(seed).random(len(ratings)) < HELD_OUT
        return ListWorld(ratings.where(~held_out), ratings.where(held_out))

    def rows(self, seed: int, progress: Progress) -> list[ShuffledPlanRow]:
        """Return a row per trainer and reference. `seed` determines the users, not the noise."""
        world = self.world(seed)
        total, rows = len(self.trainers) + len(WITHOUT_PRIVACY), list[ShuffledPlanRow]()
        for trainer in self.trainers:
            rows.append(self._private(trainer, world))
            progress(trainer.name, len(rows), total)
        for name in WITHOUT_PRIVACY:
            rows.append(self._row(name, "everybody", (), world, fit(name, world.train).weights))
            progress(name, len(rows), total)
        return rows

    def _private(
        self, trainer: ShuffledEase | ShuffledPopularity, world: ListWorld
    ) -> ShuffledPlanRow:
        plan = self.plan(trainer)
        collected = trainer.learn(SimulatedDevices.of(world.train, self.devices_each), plan)
        claim = plan.certificate(collected.rounds)
        row = self._row(trainer.name, "shuffler", collected.rounds, world, collected.weights)
        return replace(
            row,
            epsilon=float(claim.replaced),
            empty_epsilon=float(claim.empty),
            delta=float(claim.delta),
        )

    def _row(
        self,
        way: str,
        trust: Trust,
        rounds: Sequence[ShuffledRound],
        world: ListWorld,
        weights: ItemWeights,
    ) -> ShuffledPlanRow:
        sent = [(one.messages, one.dummies) for one in rounds]
        items, pairs = (*sent, (0, 0), (0, 0))[:2]
        return ShuffledPlanRow(
            way=way,
            trust=trust,
            epsilon=None,
            empty_epsilon=None,
            delta=0.0,
            item_messages=items[0],
            item_dummies=items[1],
            head=isqrt(2 * rounds[1].buckets) if len(rounds) > 1 else 0,
            pair_messages=pairs[0],
            pair_dummies=pairs[1],
            upload_bytes=SEALED_BYTES * (sum(items) + sum(pairs)),
            ndcg_at_20=world.ndcg(weights),
            simulated_people=self.simulated,
            devices_each=self.devices_each,
        )


def expected_lists(rows: Sequence[ShuffledPlanRow], people: str) -> Table:
    """Return messages, bytes and NDCG@20, a line per way. `people`: the users, in words."""
    heading = ("method", "about items", "head", "about pairs", "kB", "NDCG@20")
    return Table(f"Expected lists: {people}", heading, tuple(_line(row) for row in rows))


def list_sentences(rows: Sequence[ShuffledPlanRow]) -> list[str]:
    """Return both epsilons, and how the figures were obtained, one sentence each."""
    private = [row for row in rows if row.epsilon is not None]
    first = rows[0]
    return [
        *(
            f"{row.way}: epsilon {row.epsilon:g} per user for a profile that is replaced by any "
            f"other one, {row.empty_epsilon:g} against an empty profile, delta {row.delta:g}."
            for row in private
        ),
        "M + D: own messages of a device at most, and its dummies.",
        f"Simulated: {first.simulated_people:,} synthetic users with {first.devices_each:,} "
        "devices each, a fifth of the interactions held out. Rows without privacy have each user "
        "once. Compare the methods: the NDCG of other users differs.",
    ]


def _line(row: ShuffledPlanRow) -> tuple[str, ...]:
    items, pairs = (
        f"{messages:,} + {dummies:,}" if messages else NOTHING
        for messages, dummies in (
            (row.item_messages, row.item_dummies),
            (row.pair_messages, row.pair_dummies),
        )
    )
    head = f"{row.head:,}" if row.head else NOTHING
    size = f"{row.upload_bytes / 1000:,.1f}" if row.upload_bytes else NOTHING
    return (row.way, items, head, pairs, size, f"{row.ndcg_at_20:.3f}")
