"""Shuffled messages before data collection: dummies, bytes and accuracy of a shape.

The users are synthetic, with interactions or star ratings that depend on taste
(`tacit.readers.synthetic`). If
there are more users than can be simulated, every simulated user has several devices, each with its
own draws. The messages of all devices are thus simulated, with all of their noise, and the sampling
error is that of the simulated users.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Self

import numpy as np

from tacit.collection.shuffled.plan import ShuffledPlan, largest_delta
from tacit.planning.population import Population
from tacit.planning.shuffled_worlds import ForecastTrial, ListWorld, StarWorld
from tacit.privacy.guarantee import Trust
from tacit.progress import Progress
from tacit.readers.synthetic import FEWEST, synthetic
from tacit.reporting.table import NOTHING, Table
from tacit.results.records import checked, plain
from tacit.training import ShuffledEase
from tacit.training.shuffled.settings import ShuffledSettings, plan_for
from tacit.wire.shuffled.task import SEALED_BYTES

HELD_OUT = 0.2
TRIALS = 4
"""Trainers of a plan, and references without privacy."""


@dataclass(frozen=True, kw_only=True)
class ShuffledPlanRow:
    """One trainer with its messages, and the expected NDCG@20 of its lists, or RMSE in stars.

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
    ndcg_at_20: float | None
    rmse: float | None
    simulated_people: int
    devices_each: int

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, values, ()))


@dataclass(frozen=True, kw_only=True)
class ShuffledForecast:
    """A population under the plan `shuffled:M`, with M = `messages`.

    `epsilon`: nats per user, for a profile replaced by any other one. `delta`: at most .01 over the
    bundles, which it is by default. Both are decimal strings. The trainers have their default
    turnout and honest fraction. `stars`: whether star ratings on the population's scale are
    learned, with signed messages, instead of lists from interactions.

    Raises `RequestError` for invalid numbers.
    """

    population: Population
    messages: int
    epsilon: str
    delta: str | None = None
    stars: bool = False

    def __post_init__(self) -> None:
        self.plan(ShuffledEase(messages=self.messages))

    def plan(self, trainer: ShuffledSettings) -> ShuffledPlan:
        """Return the rounds of a trainer. Raises `RequestError` for invalid numbers."""
        people = self.simulated * self.devices_each
        delta = self.delta or largest_delta(int(trainer.turnout * people))
        items = self.population.items
        return plan_for(trainer, people, items, self.epsilon, delta, signed=self.stars)

    @property
    def devices_each(self) -> int:
        """Devices of a simulated user."""
        return ceil(self.population.people / self.population.simulated)

    @property
    def simulated(self) -> int:
        """Number of simulated users. With their devices, nearly as many as the population."""
        return self.population.people // self.devices_each

    def world(self, seed: int) -> ListWorld | StarWorld:
        """Generate the users of a seed."""
        if self.stars:
            return StarWorld(replace(self.population, people=self.simulated).world(seed))
        each = self.population.ratings_each
        fewest = max(1, min(FEWEST, 2 * each // 3))
        shape = (self.simulated, self.population.items, self.simulated * each)
        ratings = synthetic(*shape, "there", seed, fewest=fewest)
        held_out = np.random.default_rng(seed).random(len(ratings)) < HELD_OUT
        return ListWorld(ratings.where(~held_out), ratings.where(held_out))

    def rows(self, seed: int, progress: Progress) -> list[ShuffledPlanRow]:
        """Return a row per trainer and reference. `seed` determines the users, not the noise."""
        rows = list[ShuffledPlanRow]()
        trials = self.world(seed).trials(self.messages, self.devices_each, self.plan)
        for trial in trials:
            rows.append(self._row(trial))
            progress(trial.way, len(rows), TRIALS)
        return rows

    def _row(self, trial: ForecastTrial) -> ShuffledPlanRow:
        claim = trial.certificate
        sent = [(one.messages, one.dummies) for one in trial.rounds]
        items, pairs = (*sent, (0, 0), (0, 0))[:2]
        return ShuffledPlanRow(
            way=trial.way,
            trust="everybody" if claim is None else "shuffler",
            epsilon=None if claim is None else float(claim.replaced),
            empty_epsilon=None if claim is None else float(claim.empty),
            delta=0.0 if claim is None else float(claim.delta),
            item_messages=items[0],
            item_dummies=items[1],
            head=trial.head,
            pair_messages=pairs[0],
            pair_dummies=pairs[1],
            upload_bytes=SEALED_BYTES * (sum(items) + sum(pairs)),
            ndcg_at_20=trial.ndcg,
            rmse=trial.rmse,
            simulated_people=self.simulated,
            devices_each=self.devices_each,
        )


def expected_accuracy(rows: Sequence[ShuffledPlanRow], people: str) -> Table:
    """Return messages, bytes and accuracy, a line per way. `people`: the users, in words."""
    what, metric = ("lists", "NDCG@20") if rows[0].rmse is None else ("ratings", "RMSE")
    heading = ("method", "about items", "head", "about pairs", "kB", metric)
    return Table(f"Expected {what}: {people}", heading, tuple(_line(row) for row in rows))


def forecast_sentences(rows: Sequence[ShuffledPlanRow]) -> list[str]:
    """Return both epsilons, and how the figures were obtained, one sentence each."""
    private = [row for row in rows if row.epsilon is not None]
    first = rows[0]
    share, what = ("fifth", "interactions") if first.rmse is None else ("tenth", "ratings")
    metric = "NDCG" if first.rmse is None else "RMSE"
    return [
        *(
            f"{row.way}: epsilon {row.epsilon:g} per user for a profile that is replaced by any "
            f"other one, {row.empty_epsilon:g} against an empty profile, delta {row.delta:g}."
            for row in private
        ),
        "M + D: own messages of a device at most, and its dummies.",
        f"Simulated: {first.simulated_people:,} synthetic users with {first.devices_each:,} "
        f"devices each, a {share} of the {what} held out. Rows without privacy have each user "
        f"once. Compare the methods: the {metric} of other users differs.",
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
    accuracy = row.ndcg_at_20 if row.rmse is None else row.rmse
    return (row.way, items, head, pairs, size, f"{accuracy:.3f}")
