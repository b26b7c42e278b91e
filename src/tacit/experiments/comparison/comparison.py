"""A comparison: what is compared on which splits, and the cells of its grid."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

import polars as pl

from tacit.collection.named_plans import IDENTITY, PlanMaker, plan_of, protects_presence
from tacit.device.profile import RankBy
from tacit.engines.engine import Engine, check_engine
from tacit.errors import RequestError, shown
from tacit.learners.learner import Learner, learner
from tacit.learners.settings import require_options
from tacit.metrics.split import SplitProtocol
from tacit.ratings import Ratings
from tacit.results.comparison.row import BASELINES, POPULARITY, RANDOM

ROUNDS = "rounds"
"""Plan of a trainer, which queries the devices in rounds, without a channel."""


@dataclass(frozen=True, kw_only=True)
class ComparisonCell:
    """One model with one channel at one epsilon on one split.

    `data`: a checksum of the ratings. `settings`: those that all cells share. Both are part of
    the key, so that rows of other runs are not reused.
    """

    dataset: str
    data: str
    plan: str
    cap: int | None
    channel: str | None
    epsilon: str | None
    model: str
    mode: str
    seed: int
    fold: int | None
    settings: str = ""

    @property
    def key(self) -> str:
        """Unique key: one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def label(self) -> str:
        """Label in progress bars."""
        source = self.channel or self.plan
        noise = source if self.epsilon is None else f"{source} at {self.epsilon}"
        split = f"seed {self.seed}" + ("" if self.fold is None else f", fold {self.fold}")
        return f"{self.model}, {noise}, {split}"


Noise = tuple[str | None, str | None]
"""Channel and epsilon. A trainer has no channel, and no privacy has no epsilon."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A comparison and its evaluation.

    `channels`, `models`: names. `epsilons`: decimal strings, in nats per value or slot, or per unit
    of a trainer. `relevant`: minimum rating of relevant items, None for three quarters of the
    scale. `items`: a public item table for models that use it (`tacit.readers.item_table`).
    `options`: settings of every model but the baselines. `delta`: of `tight_epsilon`, a decimal
    string. `mode`: strict, faithful or both, for trainers with both. `slices`: whether rows have
    the error by decile of users and items. `lists`: whether rows have top-N metrics.
    `rank_by`: "rating" for rating models to rank by predicted rating, None or "gain" for expected
    gain.
    `rounds`: plans of trainers by name, by default `ROUNDS`.
    `only`: the epsilon of channels that run at a single one. `plugged`: channels and models of
    plug-ins with their versions, so that rows of other versions are not reused. `learner`: the
    learner of a name and mode. `make_plan`: the plan of a name, channel and epsilon. `engine`:
    where devices are simulated, None for this process.

    Raises `RequestError` for an invalid plan, cap or delta, an option or item table that a model
    does not have, and an engine that cannot simulate the devices of a model.
    """

    channels: Sequence[str]
    models: Sequence[str]
    epsilons: Sequence[str]
    protocol: SplitProtocol = field(default_factory=SplitProtocol)
    plan: str = "rated"
    cap: int | None = None
    mode: str = "strict"
    relevant: float | None = None
    delta: str = "1e-6"
    slices: bool = False
    lists: bool = True
    rank_by: str | None = None
    items: pl.DataFrame | None = field(default=None, repr=False)
    options: dict[str, object] = field(default_factory=dict[str, object])
    rounds: Mapping[str, str] = field(default_factory=dict[str, str])
    only: Mapping[str, str] = field(default_factory=dict[str, str])
    plugged: Sequence[str] = ()
    learner: Callable[[str, str], Learner] = field(default=learner, repr=False, compare=False)
    make_plan: PlanMaker = field(default=plan_of, repr=False, compare=False)
    engine: Engine | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        protects_presence(self.plan)
        if not 0 < float(self.delta) < 1:
            raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got {self.delta}.")
        if self.rank_by not in (None, *get_args(RankBy)):
            raise RequestError(f"rank_by must be gain or rating, got {shown(self.rank_by)}.")
        if self.cap is not None and self.cap < 1:
            raise RequestError(f"cap must be an integer of at least 1, got {self.cap}.")
        named = [self.learner(name, "strict") for name in self.models if name not in BASELINES]
        require_options(named, list(self.options))
        if self.items is not None and not any(each.reads_items for each in named):
            require_options(named, ["item_table"])
        if not self.lists and not any(each.predicts for each in named):
            raise RequestError(
                "Without lists, no metric is left for top-N models; add a model that predicts "
                "ratings, such as bias."
            )
        _check_engine(self.engine, named)

    def cells(self, ratings: Ratings) -> list[ComparisonCell]:
        """Return the complete grid. Cells that share reports are consecutive.

        The identity channel is always included, once, for every model. Trainers run once per
        epsilon and mode, without a channel. Random lists run without privacy only.
        """
        data, settings = ratings.checksum, f"{self.protocol.words}; {self._settings()}"
        return [
            ComparisonCell(
                dataset=ratings.name,
                data=data,
                plan=self.plan if channel else self.rounds.get(model, ROUNDS),
                cap=self.cap if channel else None,
                channel=channel,
                epsilon=epsilon,
                model=model,
                mode="none" if epsilon is None else mode,
                seed=seed,
                fold=fold,
                settings=settings,
            )
            for seed, fold in self.protocol.places()
            for (channel, epsilon), names in self._noises()
            for model, mode in names
        ]

    def options_of(self, learner: Learner) -> dict[str, Any]:
        """Return the options of a learner. Baselines have those among their settings only."""
        tables: dict[str, Any] = {} if self.items is None else {"item_table": self.items}
        return {k: v for k, v in (self.options | tables).items() if k in learner.options}

    def _noises(self) -> list[tuple[Noise, list[tuple[str, str]]]]:
        """Return the models, each with its mode, that run under each channel and epsilon."""
        learners = [self.learner(name, "strict") for name in self.models]
        fitted = [(each.name, "strict") for each in learners if not each.is_trainer]
        models = [(name, mode) for name, mode in fitted if name != RANDOM]
        trainers = [
            (each.name, mode)
            for each in learners
            if each.is_trainer
            for mode in modes_of(each, self.mode)
        ]
        random = [(name, mode) for name, mode in fitted if name == RANDOM]
        noises: list[tuple[Noise, list[tuple[str, str]]]]
        noises = [((IDENTITY, None), [*models, *random])]
        noises += [
            ((name, epsilon), models)
            for epsilon in self.epsilons
            for name in self.channels
            if name != IDENTITY and self.only.get(name, epsilon) == epsilon
        ]
        return noises + [((None, epsilon), trainers) for epsilon in self.epsilons]

    def _settings(self) -> str:
        settings = {"relevant": self.relevant, "delta": self.delta, **self.options}
        # Part of the key, so that rows without slices are not reused in a run with them.
        settings |= {"slices": True} if self.slices else {}
        settings |= {} if self.lists else {"lists": False}
        settings |= {"rank_by": "gain"} if self.lists and self.rank_by != "rating" else {}
        settings |= {} if self.items is None else {"items": _digest(self.items)}
        settings |= {"plugins": list(self.plugged)} if self.plugged else {}
        return json.dumps(settings, sort_keys=True)


def modes_of(trainer: Learner, wanted: str) -> list[str]:
    """Return the modes that a trainer runs in: those of `wanted` ("strict", "faithful" or "both")
    that it has, or its only one."""
    both = [mode for mode in trainer.modes if wanted in (mode, "both")]
    return both or [trainer.modes[0]]


def _check_engine(engine: object, learners: Sequence[Learner]) -> None:
    """Raise `RequestError` for an invalid engine, and for a model whose devices rank items by item
    weights, which only this process supports. Popularity uses no weights and is accepted."""
    check_engine(engine)
    if engine is None:
        return
    here = [
        each.name
        for each in learners
        if each.name != POPULARITY and not each.predicts and "device" in each.where
    ]
    if here:
        raise RequestError(
            f"Devices with {', '.join(here)} can only be simulated in this process; leave out the "
            "engine, or choose models that predict ratings."
        )


def _digest(table: pl.DataFrame) -> str:
    """Return a digest that identifies a table in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()
