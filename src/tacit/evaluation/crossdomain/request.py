"""Cross-domain trials as a grid: the request behind `tacit crossdomain`, and how it is run."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, runtime_checkable
from typing import Protocol as Interface

from tacit import crossdomain
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import HeldOut, Holdout
from tacit.crossdomain.scoring import require_finite, score
from tacit.crossdomain.trial import Predicted, System, Trial
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.evaluation import grid
from tacit.evaluation.comparison.runner import Latest
from tacit.evaluation.crossdomain.floors import ListFloor, list_floors
from tacit.evaluation.crossdomain.lists import AskedCatalogue
from tacit.evaluation.crossdomain.rows import FIGURES, TrialRow
from tacit.evaluation.grid import Progress, fingerprint
from tacit.evaluation.journal import Journal
from tacit.privacy.guarantee import Guarantee


@runtime_checkable
class Parted(Interface):
    """A system whose claim has two parts. With a `neighbour_epsilon` the epsilon it is given is for
    replacements alone; without, it divides what it is given itself."""

    @property
    def neighbour_epsilon(self) -> str | None:
        """Nats for neighbours, a decimal string."""
        ...

    def budget(self, epsilon: str | None) -> tuple[str, str] | None:
        """What goes to replacements and to neighbours; decimal strings. In nats a draw."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrialExperiment:
    """One system on one trial. `data`: a fingerprint of the ratings, so that no row of another run
    is taken for one of this. `lists`: whether its lists are measured, too."""

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
        """The experiment as one line of JSON."""
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
        """The experiment as a progress bar shows it."""
        claim = "" if self.epsilon is None else f" {self.system.mode} at {self.epsilon}"
        k = getattr(self.system, "k", None)
        near = "" if k is None else f", k {k}"
        return f"{self.system.name}{claim}{near}, overlap {self.protocol.overlap:g}"


@dataclass(frozen=True, kw_only=True)
class TrialRequest:
    """What to try, and how. `models`: names of systems. `epsilons`: decimal strings. With
    `neighbour_epsilons`, systems that part their claim spend the former on replacements and the
    latter on neighbours, every pair of them; without, they part each epsilon themselves. `ks`:
    neighbours, `damping`: of similarities, and `decays`: of older ratings, of those that have them;
    None for each one's own.
    `target`: the number of the domain; the last by default. `lists`: measure lists of the target's
    catalogue, too, beside lists at random and by popularity.

    Raises `RequestError` for a name, a share or a number that is none.
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
            raise RequestError(f"damping must be 0 or more, got {self.damping}; 0 is undamped.")
        list(self._systems())
        list(self._protocols())

    @property
    def left_out(self) -> tuple[str, ...]:
        """Systems of those names that the mode leaves out, each with the mode it has."""
        others = (
            f"{member.name} ({member.mode})"
            for name in self.models
            for member in crossdomain.SYSTEMS[name]
            if member.mode not in ("none", self.mode) and self.mode != "both"
        )
        return tuple(dict.fromkeys(others))

    def experiments(self, domains: Domains) -> list[TrialExperiment]:
        """Every trial of every system, those of one trial in a row."""
        data = fingerprint(domains.ratings)
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
        """The rows of all experiments; those in `journal` already are not run again."""
        return grid.run(self.experiments(domains), TrialRunner(domains, engine), journal, progress)

    def finished(self, domains: Domains, journal: Journal[TrialRow]) -> list[TrialRow]:
        """The rows that are done, after an interrupt."""
        return journal.rows(experiment.key for experiment in self.experiments(domains))

    def _protocols(self) -> Iterator[Holdout]:
        for overlap in self.overlaps:
            for keep in self.keeps:
                yield Holdout(test_share=self.test_share, overlap=overlap, keep=keep)

    def _claims(self) -> Iterator[tuple[System, str | None]]:
        """Every system with every epsilon that it may be given."""
        for system in self._systems():
            if system.mode == "none":
                yield system, None
            else:
                yield from product(self._parted(system), self.epsilons)

    def _floors(self, seed: int) -> list[tuple[System, None]]:
        """What lists are held against, where they are measured."""
        return [(floor, None) for floor in list_floors(seed)] if self.lists else []

    def _parted(self, system: System) -> list[System]:
        """The system at every second epsilon, where its claim has two parts."""
        if not isinstance(system, Parted) or not self.neighbour_epsilons:
            return [system]
        return [crossdomain.changed(system, neighbour_epsilon=e) for e in self.neighbour_epsilons]

    def _systems(self) -> Iterator[System]:
        """Every declaration, at every k and decay, and at the damping, where it has them."""
        for name in self.models:
            for system in crossdomain.systems(name, self.mode):
                for settings in self._settings(system):
                    yield crossdomain.changed(system, **settings)

    def _settings(self, system: System) -> Iterator[dict[str, Any]]:
        """What is asked for of the settings that the system has, every combination."""
        axes: dict[str, Sequence[Any] | None]
        damping = None if self.damping is None else [self.damping]
        axes = {"k": self.ks, "damping": damping, "decay": self.decays, "delta": [self.delta]}
        asked = {name: at for name, at in axes.items() if at and name in vars(system)}
        for places in product(*asked.values()):
            yield dict(zip(asked, places, strict=True))


class TrialRunner:
    """Runs experiments on one set of domains; keeps the last trial for those that share it."""

    def __init__(self, domains: Domains, engine: Engine) -> None:
        self._domains = domains
        self._engine = engine
        self._trials = Latest[tuple[HeldOut, AskedCatalogue | None]]()

    def __call__(self, experiment: TrialExperiment) -> list[TrialRow]:
        """The experiment's one row; the system is asked once for all that is measured."""
        place = (experiment.protocol, experiment.target, experiment.seed, experiment.lists)
        hidden, catalogue = self._trials.of(place, lambda: self._asked(experiment))
        asked = hidden.trial if catalogue is None else catalogue.trial
        began = time.perf_counter()
        predictions = experiment.system.predict(
            asked, engine=self._engine, epsilon=experiment.epsilon
        )
        seconds = time.perf_counter() - began
        found = _figures(experiment.system, hidden, catalogue, predictions.predicted)
        return [_row(experiment, hidden.trial, predictions.guarantee, found, seconds)]

    def _asked(self, experiment: TrialExperiment) -> tuple[HeldOut, AskedCatalogue | None]:
        hidden = experiment.protocol.hide(self._domains, experiment.target, experiment.seed)
        return hidden, AskedCatalogue.of(hidden.trial) if experiment.lists else None


def _figures(
    system: System, hidden: HeldOut, catalogue: AskedCatalogue | None, predicted: Predicted
) -> dict[str, float | None]:
    """The columns that say how good it is: None for what was not measured."""
    require_finite(predicted)
    found: dict[str, float | None] = dict.fromkeys(FIGURES)
    if not isinstance(system, ListFloor):
        told = predicted if catalogue is None else catalogue.of_hidden(predicted)
        found |= score(hidden.values, told, hidden.trial.domains.ratings.scale)._asdict()
    return found | (catalogue.figures(hidden, predicted) if catalogue else {})


def _row(
    experiment: TrialExperiment,
    trial: Trial,
    claim: Guarantee,
    found: dict[str, float | None],
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
        **found,
    )


def _number(epsilon: str | None) -> float | None:
    return None if epsilon is None else float(epsilon)
