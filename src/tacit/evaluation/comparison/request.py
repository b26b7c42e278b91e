"""Request of `tacit compare`, and how it is run on one data set."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from tacit.collection.plans import protects_presence
from tacit.errors import RequestError
from tacit.evaluation import grid
from tacit.evaluation.comparison.runner import ComparisonRunner
from tacit.evaluation.comparison.tools import RANDOM, Tools
from tacit.evaluation.comparison.without_privacy import beside_free
from tacit.evaluation.grid import Experiment, Progress
from tacit.evaluation.journal import Journal
from tacit.evaluation.results import ResultRow
from tacit.metrics.split import SplitProtocol
from tacit.privacy.epsilon import epsilon_text
from tacit.ratings import Ratings
from tacit.training import modes


def epsilons(text: str) -> tuple[str, ...]:
    """Parse `0.1,0.5,1` into distinct decimal strings. Raises `RequestError`."""
    return tuple(dict.fromkeys(epsilon_text(part) for part in text.split(",")))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A comparison and its evaluation.

    `relevant`: minimum rating of relevant items, None for three quarters of the scale. `items`: a
    public item table for models that use it (`tacit.readers.item_table`). `options`: settings for
    the models that have them. `delta`: of `tight_epsilon`, a decimal string. `mode`: strict,
    faithful or both, for trainers with both. `slices`: whether rows have the error by decile of
    users and items. `only`: the epsilon of channels that run at a single one, in nats per value or
    slot. `plugged`: channels and models of plug-ins with their versions, so that rows of other
    versions are not reused. Raises `RequestError` for an invalid plan, cap or delta.
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
    items: pl.DataFrame | None = field(default=None, repr=False)
    options: dict[str, object] = field(default_factory=dict[str, object])
    only: Mapping[str, str] = field(default_factory=dict[str, str])
    plugged: Sequence[str] = ()

    def __post_init__(self) -> None:
        protects_presence(self.plan)
        if not 0 < float(self.delta) < 1:
            raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got {self.delta}.")
        if self.cap is not None and self.cap < 1:
            raise RequestError(f"cap must be an integer of at least 1, got {self.cap}.")

    def experiments(self, ratings: Ratings) -> list[Experiment]:
        """Return all experiments of the comparison, in execution order."""
        settings = {"relevant": self.relevant, "delta": self.delta, **self.options}
        # Part of the key, so that rows without slices are not reused in a run with them.
        settings |= {"slices": True} if self.slices else {}
        settings |= {} if self.items is None else {"items": _digest(self.items)}
        settings |= {"plugins": list(self.plugged)} if self.plugged else {}
        return grid.experiments(
            ratings,
            self.protocol,
            channels=self.channels,
            models=self._models,
            floors=[RANDOM] if RANDOM in self.models else [],
            trainings=[(name, mode) for name in self.models for mode in modes(name, self.mode)],
            epsilons=self.epsilons,
            plan=self.plan,
            cap=self.cap,
            only=self.only,
            settings=json.dumps(settings, sort_keys=True),
        )

    @property
    def _models(self) -> list[str]:
        return [name for name in self.models if not modes(name) and name != RANDOM]

    def run(
        self, ratings: Ratings, tools: Tools, journal: Journal[ResultRow], progress: Progress
    ) -> list[ResultRow]:
        """Run all experiments that are not in `journal`. Returns the rows of all of them."""
        runner = ComparisonRunner(
            ratings,
            self.protocol,
            tools,
            relevant=self.relevant,
            delta=self.delta,
            options=self.options,
            slices=self.slices,
            items=self.items,
        )
        return beside_free(grid.run(self.experiments(ratings), runner, journal, progress))

    def finished(self, ratings: Ratings, journal: Journal[ResultRow]) -> list[ResultRow]:
        """Return the finished rows, after an interrupt."""
        keys = (experiment.key for experiment in self.experiments(ratings))
        return beside_free(journal.rows(keys))


def _digest(table: pl.DataFrame) -> str:
    """Return a digest that identifies a table in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()
