"""A comparison: the request behind `tacit compare`, and how it is run on one data set."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from tacit.collection.plans import protects_presence
from tacit.errors import RequestError
from tacit.evaluation import grid
from tacit.evaluation.comparison.runner import ComparisonRunner, Tools
from tacit.evaluation.comparison.without_privacy import beside_free
from tacit.evaluation.grid import Experiment, Progress
from tacit.evaluation.journal import Journal
from tacit.evaluation.results import ResultRow
from tacit.metrics.split import SplitProtocol
from tacit.privacy.epsilon import epsilon_text
from tacit.ratings import Ratings
from tacit.training import modes

RANDOM, POPULARITY = "random", "popularity"
"""Models of lists that `tacit compare` sets beside all others; the first learns nothing."""


def epsilons(text: str) -> tuple[str, ...]:
    """`0.1,0.5,1` as decimal strings, each once; raises `RequestError` for what is no epsilon."""
    return tuple(dict.fromkeys(epsilon_text(part) for part in text.split(",")))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What to compare, and how to measure it.

    `relevant`: the rating from which an item counts as relevant; None for three quarters up the
    scale. `items`: a public table of the items, for models that learn from it
    (`tacit.readers.item_table`). `options`: settings for those models that have them. `delta`:
    that of `tight_epsilon`, a decimal string. `mode`: strict, faithful or both, of trainings that
    have both. `slices`: whether rows have the error by decile of people and items, too. `only`: of
    channels that are there at one epsilon alone, that epsilon, in nats per value or slot.
    `plugged`: which of channels and models are of plug-ins, and of which version, so that no row of
    another is kept. Raises `RequestError` for a plan, a cap or a delta that does not exist.
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
        """Every experiment of the comparison, in the order in which they run."""
        settings = {"relevant": self.relevant, "delta": self.delta, **self.options}
        # Rows without slices are not those of a run that asks for them, nor the other way round.
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
        """The rows of all experiments; those in `journal` already are not run again."""
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
        """The rows that are done, after an interrupt."""
        keys = (experiment.key for experiment in self.experiments(ratings))
        return beside_free(journal.rows(keys))


def _digest(table: pl.DataFrame) -> str:
    """What tells one table from another in a journal."""
    return hashlib.sha256(table.write_json().encode()).hexdigest()
