"""What to attack: the request behind `tacit attack`, and how it is run on one data set."""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import polars as pl

from tacit.audit.attacks import ATTACKS, attack
from tacit.audit.attacks.protocol import AbstractAttack, Finding
from tacit.audit.attacks.world import World
from tacit.collection.plans import protects_presence
from tacit.errors import RequestError
from tacit.evaluation import grid
from tacit.evaluation.attacks.rows import AttackRow
from tacit.evaluation.comparison import tools
from tacit.evaluation.grid import IDENTITY, Progress, fingerprint
from tacit.evaluation.journal import Journal
from tacit.ratings import Ratings

TRAININGS = "trainings"
"""The channel of attacks that run trainings of their own, on true ratings."""


@dataclass(frozen=True, kw_only=True)
class AttackExperiment:
    """One attack on one world: everything that its rows depend on but chance.

    `epsilon`: a decimal string, nats per value or slot; None for no privacy, and for attacks that
    run trainings of their own. `settings`: those of the attack, and what people table it had.
    """

    dataset: str
    data: str
    attack: str
    plan: str
    channel: str
    epsilon: str | None
    seed: int
    settings: str

    @property
    def key(self) -> str:
        """The experiment as one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def label(self) -> str:
        """The experiment as a progress bar shows it."""
        noise = self.channel if self.epsilon is None else f"{self.channel} at {self.epsilon}"
        return f"{self.attack}, {self.plan}, {noise}"


@dataclass(frozen=True, kw_only=True)
class AttackRequest:
    """Which attacks, on what leaves under which terms.

    `epsilons`: nats per value or slot, decimal strings. `people`: a table of people with a column
    user, for attacks on what else is known of them. `changes`: settings of attacks, by name.
    Raises `RequestError` for a name or a plan that does not exist, or that no channel serves.
    """

    attacks: Sequence[str] = tuple(ATTACKS)
    plans: Sequence[str] = ("rated",)
    channels: Sequence[str] = ("auto",)
    epsilons: Sequence[str] = ("1",)
    seeds: int = 1
    people: pl.DataFrame | None = field(default=None, repr=False)
    changes: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])

    def __post_init__(self) -> None:
        list(map(attack, self.attacks))
        for plan in self.plans:
            tools.check(self.channels, (), plan)
        if IDENTITY in self.channels:
            raise RequestError(
                f"Every attack already runs without privacy as a comparison; leave {IDENTITY} out "
                "of the channels."
            )

    def experiments(self, ratings: Ratings) -> list[AttackExperiment]:
        """Every experiment, those on one world in a row."""
        data = fingerprint(ratings)
        table = "" if self.people is None else _digest(self.people)
        plugged = [each for name in self.channels if (each := tools.plugged(name, None))]
        return [
            AttackExperiment(
                dataset=ratings.name,
                data=data,
                attack=name,
                plan=plan,
                channel=channel,
                epsilon=epsilon,
                seed=seed,
                settings=json.dumps([self.changes.get(name, {}), table, *plugged], sort_keys=True),
            )
            for seed in range(self.seeds)
            for needs, plan, channel, epsilon in self._worlds()
            for name in self.attacks
            if self.attack(name).needs in needs
        ]

    def _worlds(self) -> Iterator[tuple[tuple[str, ...], str, str, str | None]]:
        """The needs that each meets, its plan, channel and epsilon."""
        yield ("reports",), self.plans[0], IDENTITY, None
        for plan in self.plans:
            for channel in self.channels:
                for epsilon in self.epsilons:
                    yield ("reports", "channel"), plan, channel, epsilon
        yield ("ratings",), self.plans[0], TRAININGS, None

    def attack(self, name: str) -> AbstractAttack:
        """The attack of that name with the settings asked for."""
        return attack(name, **self.changes.get(name, {}))

    def run(
        self, ratings: Ratings, journal: Journal[AttackRow], progress: Progress
    ) -> list[AttackRow]:
        """The rows of all experiments; those in `journal` already are not run again."""
        return grid.run(self.experiments(ratings), _Runner(self, ratings), journal, progress)

    def finished(self, ratings: Ratings, journal: Journal[AttackRow]) -> list[AttackRow]:
        """The rows that are done, after an interrupt."""
        return journal.rows(experiment.key for experiment in self.experiments(ratings))


class _Runner:
    """Runs experiments, and keeps the world of the last."""

    def __init__(self, request: AttackRequest, ratings: Ratings) -> None:
        self._request, self._ratings = request, ratings
        self._kept: tuple[tuple[object, ...], World] | None = None

    def __call__(self, experiment: AttackExperiment) -> list[AttackRow]:
        world = self._world(experiment)
        chosen = self._request.attack(experiment.attack)
        start = time.perf_counter()
        found = chosen.run(world)
        seconds = time.perf_counter() - start
        return [_row(experiment, world, chosen, finding, seconds) for finding in found]

    def _world(self, asked: AttackExperiment) -> World:
        terms = (asked.plan, asked.channel, asked.epsilon, asked.seed)
        if self._kept is None or self._kept[0] != terms:
            self._kept = None  # before the next is built: one of them in memory is enough
            self._kept = (terms, self._built(asked))
        return self._kept[1]

    def _built(self, asked: AttackExperiment) -> World:
        ratings, people = self._ratings, self._request.people
        if asked.epsilon is None:
            return World.unprotected(ratings, asked.plan, asked.seed, people)
        made = tools.tools().plan
        plan = made(asked.plan, asked.channel, asked.epsilon, ratings.scale, None)
        return World.through(ratings, plan, asked.seed, people)


def _row(
    asked: AttackExperiment,
    world: World,
    chosen: AbstractAttack,
    finding: Finding,
    seconds: float,
) -> AttackRow:
    protected = asked.epsilon is not None
    hides = protects_presence(asked.plan)
    return AttackRow(
        dataset=asked.dataset,
        attack=asked.attack,
        plan=asked.plan if protected else None,
        channel=asked.channel,
        channel_id=world.channel.id if world.channel else None,
        epsilon=float(asked.epsilon) if asked.epsilon is not None else None,
        unit=("slot" if hides else "value") if protected else None,
        seed=asked.seed,
        beside=chosen.baseline,
        **asdict(finding),
        leaks=finding.leaks,
        seconds=seconds,
        plugins=tools.plugged(asked.channel, None),
    )


def _digest(table: pl.DataFrame) -> str:
    """What tells one table from another in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()
