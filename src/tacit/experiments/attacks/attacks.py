"""Request of `tacit attack`, and how it is run on one data set."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import polars as pl

from tacit.audit.attacks import ATTACKS, attack
from tacit.audit.attacks.protocol import AbstractAttack, Finding
from tacit.audit.attacks.world import World
from tacit.collection.plans import protects_presence
from tacit.errors import RequestError
from tacit.experiments import grid, tools
from tacit.experiments.grid import IDENTITY, Journal, Progress
from tacit.experiments.results import checked, plain
from tacit.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class AttackRow:
    """One figure of one attack.

    `epsilon`: nats per `unit` ("value" or "slot") of reports through `channel` under `plan`.
    `plan`, `epsilon` and `unit` are None without privacy, and for attacks that run trainers
    themselves. `setting`: background knowledge of the attacker. `value`: of `figure`, a share.
    `baseline`: the same by the method `beside`. `bound`: the maximum under the guarantee, None if
    it implies none. `error`: standard error of `value`. `leaks`: whether the value exceeds the
    bound significantly. `seconds`: wall seconds of the entire attack. `plugins`: plug-in of the
    channel, None for a built-in one.
    """

    dataset: str
    attack: str
    plan: str | None
    channel: str | None
    channel_id: str | None
    epsilon: float | None
    unit: str | None
    seed: int
    setting: str
    figure: str
    value: float
    baseline: float
    beside: str
    bound: float | None
    error: float
    count: int
    leaks: bool
    seconds: float
    plugins: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values. The key `plugins` is omitted if it is None."""
        values = plain(self)
        return {k: v for k, v in values.items() if k != "plugins" or v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Parse the values of `to_dict`. Raises `DataError` for other keys."""
        return cls(**checked(cls, {"plugins": None, **values}, ()))


TRAININGS = "trainings"
"""Placeholder channel of attacks that run trainers on true ratings themselves."""


@dataclass(frozen=True, kw_only=True)
class AttackExperiment:
    """One attack on one scenario: everything that determines its rows, except random noise.

    `epsilon`: a decimal string, nats per value or slot. None without privacy, and for attacks that
    run trainers themselves. `settings`: those of the attack, and a digest of the people table.
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
        """Unique key: one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def label(self) -> str:
        """Label in progress bars."""
        noise = self.channel if self.epsilon is None else f"{self.channel} at {self.epsilon}"
        return f"{self.attack}, {self.plan}, {noise}"


@dataclass(frozen=True, kw_only=True)
class AttackRequest:
    """Attacks, and the terms of the reports that they are run on.

    `epsilons`: nats per value or slot, decimal strings. `people`: a table of user attributes with a
    column user, for attribute inference. `changes`: settings of attacks, by name. Raises
    `RequestError` for an unknown name or plan, and for a channel that does not support the plan.
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
        """Return all experiments. Those on one scenario are consecutive."""
        data = ratings.fingerprint
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
        """Yield the provided needs, plan, channel and epsilon of each scenario."""
        yield ("reports",), self.plans[0], IDENTITY, None
        for plan in self.plans:
            for channel in self.channels:
                for epsilon in self.epsilons:
                    yield ("reports", "channel"), plan, channel, epsilon
        yield ("ratings",), self.plans[0], TRAININGS, None

    def attack(self, name: str) -> AbstractAttack:
        """Return the attack of that name with the requested settings."""
        return attack(name, **self.changes.get(name, {}))

    def run(
        self, ratings: Ratings, journal: Journal[AttackRow], progress: Progress
    ) -> list[AttackRow]:
        """Run all experiments that are not in `journal`. Returns the rows of all of them."""
        return grid.run(self.experiments(ratings), _Runner(self, ratings), journal, progress)

    def finished(self, ratings: Ratings, journal: Journal[AttackRow]) -> list[AttackRow]:
        """Return the finished rows, after an interrupt."""
        return journal.rows(experiment.key for experiment in self.experiments(ratings))


class _Runner:
    """Runs experiments, and caches the scenario of the last one."""

    def __init__(self, request: AttackRequest, ratings: Ratings) -> None:
        self._request, self._ratings = request, ratings
        self._cached: tuple[tuple[object, ...], World] | None = None

    def __call__(self, experiment: AttackExperiment) -> list[AttackRow]:
        scenario = self._world(experiment)
        chosen = self._request.attack(experiment.attack)
        start = time.perf_counter()
        findings = chosen.run(scenario)
        seconds = time.perf_counter() - start
        return [_row(experiment, scenario, chosen, finding, seconds) for finding in findings]

    def _world(self, experiment: AttackExperiment) -> World:
        terms = (experiment.plan, experiment.channel, experiment.epsilon, experiment.seed)
        if self._cached is None or self._cached[0] != terms:
            self._cached = None  # freed before the next one is built, to halve the peak memory
            self._cached = (terms, self._built(experiment))
        return self._cached[1]

    def _built(self, experiment: AttackExperiment) -> World:
        ratings, people = self._ratings, self._request.people
        if experiment.epsilon is None:
            return World.unprotected(ratings, experiment.plan, experiment.seed, people)
        made = tools.tools().plan
        plan = made(experiment.plan, experiment.channel, experiment.epsilon, ratings.scale, None)
        return World.through(ratings, plan, experiment.seed, people)


def _row(
    experiment: AttackExperiment,
    scenario: World,
    chosen: AbstractAttack,
    finding: Finding,
    seconds: float,
) -> AttackRow:
    protected = experiment.epsilon is not None
    hides = protects_presence(experiment.plan)
    return AttackRow(
        dataset=experiment.dataset,
        attack=experiment.attack,
        plan=experiment.plan if protected else None,
        channel=experiment.channel,
        channel_id=scenario.channel.id if scenario.channel else None,
        epsilon=float(experiment.epsilon) if experiment.epsilon is not None else None,
        unit=("slot" if hides else "value") if protected else None,
        seed=experiment.seed,
        beside=chosen.baseline,
        **asdict(finding),
        leaks=finding.leaks,
        seconds=seconds,
        plugins=tools.plugged(experiment.channel, None),
    )


def _digest(table: pl.DataFrame) -> str:
    """Return a digest that identifies a table in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()
