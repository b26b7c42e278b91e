"""Request of `tacit crossdomain`: a grid of trials, and how it is run."""

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, Self, runtime_checkable
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from tacit import crossdomain
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import HeldOut, Holdout
from tacit.crossdomain.trial import (
    Doubles,
    Predicted,
    System,
    Trial,
    TrialPredictions,
    require_finite,
    score,
)
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.experiments import grid
from tacit.experiments.crossdomain.rows import FIGURES, TrialRow
from tacit.experiments.defaults import POPULARITY, RANDOM
from tacit.experiments.grid import Journal, Latest, Progress
from tacit.experiments.metric_columns import MOST_SCORES, figure_columns
from tacit.kernels.layout import Side, by_user
from tacit.kernels.lists.topk import best_lists
from tacit.metrics.accuracy import relevant_from
from tacit.metrics.lists import LENGTH, ListFigures, list_figures
from tacit.privacy.guarantee import NO_PRIVACY, Guarantee
from tacit.ratings import Codes


@dataclass(frozen=True, kw_only=True)
class ListFloor:
    """Ranks items without predicting ratings: its scores have no rating error.

    `name`: "random", uniform with `seed`, or "popularity", the number of an item's known ratings in
    the target.
    """

    name: str
    seed: int

    variant = None
    mode = "none"

    def predict(self, trial: Trial, *, engine: Engine, epsilon: str | None) -> TrialPredictions:
        """Return the scores of the queried cells, in the form of `System.predict`."""
        del engine, epsilon  # without a guarantee
        covered = np.zeros(len(trial.items), np.bool_)
        return TrialPredictions(Predicted(self._scores(trial), covered), NO_PRIVACY)

    def _scores(self, trial: Trial) -> Doubles:
        if self.name == RANDOM:
            return np.random.default_rng(self.seed).random(len(trial.items))
        ratings = trial.domains.ratings
        return np.bincount(ratings.items, minlength=ratings.n_items)[trial.items].astype(np.float64)


def list_floors(seed: int) -> tuple[ListFloor, ...]:
    """Return both baselines of a trial with that seed."""
    return tuple(ListFloor(name=name, seed=seed) for name in (RANDOM, POPULARITY))


Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AskedCatalogue:
    """All test users by all items of the target, without those that they kept.

    `trial`: queries these cells, by user and item. A cell takes about 40 bytes during prediction,
    and 230 with the median over draws of `taste-map`. `hidden`: indices of the hidden ratings among
    the cells, shape (n,). `kept`: items that each of `trial.people` kept, as indices into the
    target's catalogue.
    """

    trial: Trial
    hidden: Places
    kept: Side

    @classmethod
    def of(cls, trial: Trial) -> Self:
        """Return the cells for lists and for the hidden ratings of `trial`.

        Raises `RequestError` for more than 2^27 cells: all are predicted at once, because a system
        is fitted again in every call.
        """
        n_items, first = _items(trial), trial.domains.bounds[trial.target]
        _feasible(len(trial.people), n_items)
        known_items = _known_items(trial)
        free = np.ones((len(trial.people), n_items), np.bool_)
        free[np.repeat(np.arange(len(free)), known_items.counts), known_items.other] = False
        places = np.flatnonzero(free)
        users = trial.people[places // n_items]
        items = (places % n_items + first).astype(np.int32)
        hidden = np.searchsorted(places, _places(trial)).astype(np.int64)
        return cls(replace(trial, users=users, items=items), hidden, known_items)

    def of_hidden(self, predicted: Predicted) -> Predicted:
        """Return the predictions of the hidden ratings, in their order."""
        return Predicted(predicted.values[self.hidden], predicted.covered[self.hidden])

    def lists(self, predicted: Predicted, length: int = LENGTH) -> Codes:
        """Return each user's list by predictions of the cells, in single precision.

        Indices into the target's catalogue, shape (people, length), padded with -1. Raises
        `RequestError` for a prediction that is not finite.
        """
        n_items = _items(self.trial)
        scores = np.zeros((len(self.trial.people), n_items), np.float32)
        scores.reshape(-1)[_places(self.trial)] = predicted.values
        return best_lists(lambda some: scores[some], self.kept, n_items, length)

    def figures(self, hidden: HeldOut, predicted: Predicted) -> dict[str, float | None]:
        """Return six columns of a result row, None for missing metrics.

        Popularity is the share of users with known ratings in the target.
        """
        metrics = figure_columns(self._figures(hidden, self.lists(predicted)))
        return {name: None if math.isnan(value) else value for name, value in metrics.items()}

    def _figures(self, hidden: HeldOut, lists: Codes) -> ListFigures:
        domains, target = self.trial.domains, self.trial.target
        wanted = hidden.values >= relevant_from(domains.ratings.scale)
        cells = _places(hidden.trial)[wanted]
        people, items = (part.astype(np.int32) for part in np.divmod(cells, _items(self.trial)))
        rated = domains.ratings.items[self.trial.in_target] - domains.bounds[target]
        counts = np.bincount(rated, minlength=_items(self.trial))
        raters = int(np.count_nonzero(domains.members(target)))
        return list_figures(lists, people, items, counts, counted=raters)


def _items(trial: Trial) -> int:
    """Return the number of items of the target."""
    return trial.domains.bounds[trial.target + 1] - trial.domains.bounds[trial.target]


def _feasible(people: int, n_items: int) -> None:
    if people * n_items > MOST_SCORES:
        raise RequestError(
            f"Lists for {people:,} test users and {n_items:,} items require {people * n_items:,} "
            f"predictions at once, more than {MOST_SCORES:,}; test a smaller share of users, or "
            "leave out the lists."
        )


def _places(trial: Trial) -> Places:
    """Return the queried cells as indices into a table of test users by target items."""
    rows = np.searchsorted(trial.people, trial.users).astype(np.int64)
    return rows * _items(trial) + trial.items - trial.domains.bounds[trial.target]


def _known_items(trial: Trial) -> Side:
    """Return the known target ratings of the test users."""
    ratings, first = trial.domains.ratings, trial.domains.bounds[trial.target]
    mine = trial.in_target & np.isin(ratings.users, trial.people)
    rows = np.searchsorted(trial.people, ratings.users[mine]).astype(np.int32)
    items = (ratings.items[mine] - first).astype(np.int32)
    return by_user(rows, items, len(trial.people), _items(trial))[0]


@runtime_checkable
class Parted(Interface):
    """A system whose guarantee has two parts. With a `neighbour_epsilon`, its epsilon is for
    replacements only. Without one, it divides its epsilon itself."""

    @property
    def neighbour_epsilon(self) -> str | None:
        """Epsilon of the neighbour selection, in nats, a decimal string."""
        ...

    def budget(self, epsilon: str | None) -> tuple[str, str] | None:
        """Return the epsilons of replacements and neighbours, in nats per draw, decimal strings."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrialExperiment:
    """One system on one trial. `data`: a fingerprint of the ratings, so that rows of other runs are
    not reused. `lists`: whether top-N lists are evaluated as well."""

    data: str
    names: tuple[str, ...]
    target: int
    system: System = field(repr=False)
    epsilon: str | None
    protocol: Holdout
    seed: int
    lists: bool = False

    @property
    def key(self) -> str:
        """Unique key: one line of JSON."""
        system = self.system
        settings = {name: repr(value) for name, value in sorted(vars(system).items())}
        facts = {
            "data": self.data,
            "names": self.names,
            "target": self.target,
            "system": [system.name, system.variant, system.mode, settings],
            "epsilon": self.epsilon,
            "protocol": asdict(self.protocol),
            "seed": self.seed,
            "lists": self.lists,
        }
        return json.dumps(facts, sort_keys=True)

    @property
    def label(self) -> str:
        """Label in progress bars."""
        claim = "" if self.epsilon is None else f" {self.system.mode} at {self.epsilon}"
        k = getattr(self.system, "k", None)
        near = "" if k is None else f", k {k}"
        return f"{self.system.name}{claim}{near}, overlap {self.protocol.overlap:g}"


@dataclass(frozen=True, kw_only=True)
class TrialRequest:
    """A grid of systems and trials.

    `models`: names of systems. `epsilons`: decimal strings. With `neighbour_epsilons`, systems with
    two-part guarantees run at every pair: `epsilons` for replacements, `neighbour_epsilons` for
    neighbours. Without, they divide each epsilon themselves. `ks` (numbers of neighbours),
    `damping` (of similarities) and `decays` (of older ratings) apply to the systems that have them,
    None for their defaults. `target`: index of the domain, the last by default. `lists`: also
    evaluate top-N lists of the target, with random and popularity baselines.

    Raises `RequestError` for an invalid name, share or number.
    """

    models: Sequence[str]
    epsilons: Sequence[str] = ("1",)
    neighbour_epsilons: Sequence[str] | None = None
    delta: str = "1e-6"
    mode: str = "strict"
    test_share: float = 0.2
    overlaps: Sequence[float] = (1.0,)
    keeps: Sequence[int] = (0,)
    ks: Sequence[int] | None = None
    damping: int | None = None
    decays: Sequence[float] | None = None
    seeds: int = 1
    target: int = -1
    lists: bool = False

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise RequestError(f"seeds must be at least 1, got {self.seeds}.")
        if not 0 < float(self.delta) < 1:
            raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got {self.delta}.")
        if (self.damping or 0) < 0:
            raise RequestError(f"damping must be 0 or more, got {self.damping}; 0 means none.")
        list(self._systems())
        list(self._protocols())

    @property
    def left_out(self) -> tuple[str, ...]:
        """Named systems that the mode excludes, each with its mode."""
        others = (
            f"{member.name} ({member.mode})"
            for name in self.models
            for member in crossdomain.SYSTEMS[name]
            if member.mode not in ("none", self.mode) and self.mode != "both"
        )
        return tuple(dict.fromkeys(others))

    def experiments(self, domains: Domains) -> list[TrialExperiment]:
        """Return all experiments. Those of one trial are consecutive."""
        data = domains.ratings.fingerprint
        target = range(len(domains.names))[self.target]
        return [
            TrialExperiment(
                data=data,
                names=domains.names,
                target=target,
                system=system,
                epsilon=epsilon,
                protocol=protocol,
                seed=seed,
                lists=self.lists,
            )
            for seed in range(self.seeds)
            for protocol in self._protocols()
            for system, epsilon in (*self._claims(), *self._floors(seed))
        ]

    def run(
        self, domains: Domains, engine: Engine, journal: Journal[TrialRow], progress: Progress
    ) -> list[TrialRow]:
        """Run all experiments that are not in `journal`. Returns the rows of all of them."""
        return grid.run(self.experiments(domains), TrialRunner(domains, engine), journal, progress)

    def finished(self, domains: Domains, journal: Journal[TrialRow]) -> list[TrialRow]:
        """Return the finished rows, after an interrupt."""
        return journal.rows(experiment.key for experiment in self.experiments(domains))

    def _protocols(self) -> Iterator[Holdout]:
        for overlap in self.overlaps:
            for keep in self.keeps:
                yield Holdout(test_share=self.test_share, overlap=overlap, keep=keep)

    def _claims(self) -> Iterator[tuple[System, str | None]]:
        """Yield every system with every epsilon that applies to it."""
        for system in self._systems():
            if system.mode == "none":
                yield system, None
            else:
                yield from product(self._parted(system), self.epsilons)

    def _floors(self, seed: int) -> list[tuple[System, None]]:
        """Return the baselines of lists, if lists are evaluated."""
        return [(baseline, None) for baseline in list_floors(seed)] if self.lists else []

    def _parted(self, system: System) -> list[System]:
        """Return the system at every neighbour epsilon, if its guarantee has two parts."""
        if not isinstance(system, Parted) or not self.neighbour_epsilons:
            return [system]
        return [crossdomain.changed(system, neighbour_epsilon=e) for e in self.neighbour_epsilons]

    def _systems(self) -> Iterator[System]:
        """Yield every system at every k, damping and decay that it has."""
        for name in self.models:
            for system in crossdomain.systems(name, self.mode):
                for settings in self._settings(system):
                    yield crossdomain.changed(system, **settings)

    def _settings(self, system: System) -> Iterator[dict[str, Any]]:
        """Yield all combinations of the requested settings that the system has."""
        axes: dict[str, Sequence[Any] | None]
        damping = None if self.damping is None else [self.damping]
        axes = {"k": self.ks, "damping": damping, "decay": self.decays, "delta": [self.delta]}
        requested = {name: at for name, at in axes.items() if at and name in vars(system)}
        for places in product(*requested.values()):
            yield dict(zip(requested, places, strict=True))


class TrialRunner:
    """Runs experiments on one set of domains, and caches the last trial."""

    def __init__(self, domains: Domains, engine: Engine) -> None:
        self._domains = domains
        self._engine = engine
        self._trials = Latest[tuple[HeldOut, AskedCatalogue | None]]()

    def __call__(self, experiment: TrialExperiment) -> list[TrialRow]:
        """Return the single row of an experiment. The system runs once for all metrics."""
        trial = (experiment.protocol, experiment.target, experiment.seed, experiment.lists)
        hidden, catalogue = self._trials.of(trial, lambda: self._trial(experiment))
        queried = hidden.trial if catalogue is None else catalogue.trial
        began = time.perf_counter()
        predictions = experiment.system.predict(
            queried, engine=self._engine, epsilon=experiment.epsilon
        )
        seconds = time.perf_counter() - began
        metrics = _figures(experiment.system, hidden, catalogue, predictions.predicted)
        return [_row(experiment, hidden.trial, predictions.guarantee, metrics, seconds)]

    def _trial(self, experiment: TrialExperiment) -> tuple[HeldOut, AskedCatalogue | None]:
        hidden = experiment.protocol.hide(self._domains, experiment.target, experiment.seed)
        return hidden, AskedCatalogue.of(hidden.trial) if experiment.lists else None


def _figures(
    system: System, hidden: HeldOut, catalogue: AskedCatalogue | None, predicted: Predicted
) -> dict[str, float | None]:
    """Return the metric columns, None for those that were not measured."""
    require_finite(predicted)
    metrics: dict[str, float | None] = dict.fromkeys(FIGURES)
    if not isinstance(system, ListFloor):
        ratings = predicted if catalogue is None else catalogue.of_hidden(predicted)
        metrics |= score(hidden.values, ratings, hidden.trial.domains.ratings.scale)._asdict()
    return metrics | (catalogue.figures(hidden, predicted) if catalogue else {})


def _row(
    experiment: TrialExperiment,
    trial: Trial,
    claim: Guarantee,
    metrics: dict[str, float | None],
    seconds: float,
) -> TrialRow:
    system = experiment.system
    parts = (system.budget(experiment.epsilon) if isinstance(system, Parted) else None) or (
        None,
        None,
    )
    return TrialRow(
        model=system.name,
        variant=system.variant,
        mode=system.mode,
        epsilon=_number(claim.epsilon),
        replacement_epsilon=_number(parts[0]),
        neighbour_epsilon=_number(parts[1]),
        delta=float(claim.delta),
        unit=claim.unit,
        trust=claim.trust,
        claim_valid=None if claim.epsilon is None else claim.fails is None,
        promise=claim.sentence,
        source=" + ".join(
            name for d, name in enumerate(experiment.names) if d != experiment.target
        ),
        target=experiment.names[experiment.target],
        test_share=experiment.protocol.test_share,
        overlap=experiment.protocol.overlap,
        keep=experiment.protocol.keep,
        k=getattr(system, "k", None),
        damping=getattr(system, "damping", None),
        decay=getattr(system, "decay", None),
        seed=experiment.seed,
        n_train=len(trial.domains.ratings),
        n_test=len(trial.users),
        people=len(trial.people),
        seconds=seconds,
        **metrics,
    )


def _number(epsilon: str | None) -> float | None:
    return None if epsilon is None else float(epsilon)
