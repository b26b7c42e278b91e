"""Request of `tacit attack`, and how it is run on one data set."""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import polars as pl

from tacit.audit.attacks import ATTACKS, attack
from tacit.audit.attacks.protocol import AbstractAttack, Finding
from tacit.audit.attacks.world import World
from tacit.collection.named_plans import IDENTITY, check_channels, plan_of, protects_presence
from tacit.errors import RequestError
from tacit.experiments.experiment import Experiment, Latest
from tacit.learners.learner import plugged
from tacit.progress import Progress
from tacit.ratings import Ratings
from tacit.reporting.page import Provenance
from tacit.results.attacks.report import KNOWN, report
from tacit.results.attacks.rows import AttackRow, as_text

TRAININGS = "trainings"
"""Placeholder channel of attacks that run trainers on true ratings themselves."""


@dataclass(frozen=True, kw_only=True)
class AttackCell:
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
            check_channels(self.channels, plan)
        if IDENTITY in self.channels:
            raise RequestError(
                f"Every attack already runs against a non-private baseline; leave {IDENTITY} out "
                "of the channels."
            )

    def cells(self, ratings: Ratings) -> list[AttackCell]:
        """Return all cells. Those on one scenario are consecutive."""
        data = ratings.checksum
        table = "" if self.people is None else _digest(self.people)
        sources = [each for name in self.channels if (each := plugged(name, None))]
        return [
            AttackCell(
                dataset=ratings.name,
                data=data,
                attack=name,
                plan=plan,
                channel=channel,
                epsilon=epsilon,
                seed=seed,
                settings=json.dumps([self.changes.get(name, {}), table, *sources], sort_keys=True),
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


class AttackMeasurement:
    """Measures cells on one data set, and caches the last scenario."""

    def __init__(self, request: AttackRequest, ratings: Ratings) -> None:
        self._request, self._ratings = request, ratings
        self._worlds = Latest[World]()

    def __call__(self, cell: AttackCell) -> list[AttackRow]:
        scenario = self._world(cell)
        chosen = self._request.attack(cell.attack)
        start = time.perf_counter()
        findings = chosen.run(scenario)
        seconds = time.perf_counter() - start
        return [_row(cell, scenario, chosen, finding, seconds) for finding in findings]

    def _world(self, cell: AttackCell) -> World:
        terms = (cell.plan, cell.channel, cell.epsilon, cell.seed)
        return self._worlds.of(terms, lambda: self._built(cell))

    def _built(self, cell: AttackCell) -> World:
        ratings, people = self._ratings, self._request.people
        if cell.epsilon is None:
            return World.unprotected(ratings, cell.plan, cell.seed, people)
        plan = plan_of(cell.plan, cell.channel, cell.epsilon, ratings.scale)
        return World.through(ratings, plan, cell.seed, people)


def _row(
    cell: AttackCell,
    scenario: World,
    chosen: AbstractAttack,
    finding: Finding,
    seconds: float,
) -> AttackRow:
    protected = cell.epsilon is not None
    hides = protects_presence(cell.plan)
    return AttackRow(
        dataset=cell.dataset,
        attack=cell.attack,
        plan=cell.plan if protected else None,
        channel=cell.channel,
        channel_id=scenario.channel.id if scenario.channel else None,
        epsilon=float(cell.epsilon) if cell.epsilon is not None else None,
        unit=("slot" if hides else "value") if protected else None,
        seed=cell.seed,
        beside=chosen.baseline,
        **asdict(finding),
        leaks=finding.leaks,
        seconds=seconds,
        plugins=plugged(cell.channel, None),
    )


def _digest(table: pl.DataFrame) -> str:
    """Return a digest that identifies a table in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()


VICTIMS = 500
"""Users of a quick linkage attack."""


def experiment(
    request: AttackRequest, ratings: Ratings, run: Provenance | None = None
) -> Experiment[AttackCell, AttackRow]:
    """Declare the experiment of a request on these ratings. `run`: the provenance of its report."""
    return Experiment(
        title="attacking",
        row=AttackRow,
        cells=request.cells(ratings),
        measure=AttackMeasurement(request, ratings),
        text=as_text,
        page=lambda rows: report(rows, run),
    )


def quick_attacks(
    ratings: Ratings,
    *,
    plan: str,
    channels: Sequence[str],
    epsilons: Sequence[str],
    progress: Progress = lambda label, done, total: None,
) -> list[AttackRow]:
    """Run linkage of a sample of users, and reconstruction, under each channel and epsilon (nats
    per value or slot), and without privacy. Empty without a channel."""
    noisy = [name for name in channels if name != IDENTITY]
    if not noisy:
        return []
    request = AttackRequest(
        attacks=("linkage", "reconstruction"),
        plans=(plan,),
        channels=noisy,
        epsilons=epsilons,
        changes={"linkage": {"known": (KNOWN,), "most_victims": VICTIMS}},
    )
    return experiment(request, ratings).rows(progress=progress)
