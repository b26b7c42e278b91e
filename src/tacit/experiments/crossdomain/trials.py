"""Request of `tacit crossdomain`: a grid of trials, and how it is run."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, runtime_checkable
from typing import Protocol as Interface

from tacit import crossdomain
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import HeldOut, Holdout
from tacit.crossdomain.trial import (
    Predicted,
    System,
    Trial,
    require_finite,
    score,
)
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.experiments.crossdomain.list_trials import AskedCatalogue, ListBaseline, list_baselines
from tacit.experiments.crossdomain.report import report
from tacit.experiments.crossdomain.rows import FIGURES, TrialRow, as_text
from tacit.experiments.experiment import Experiment, Latest
from tacit.privacy.guarantee import Guarantee
from tacit.reporting.page import Provenance


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
class TrialCell:
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


OPTIONS = {
    "k",
    "damping",
    "decay",
    "delta",
    "neighbour_epsilon",
    "mode",
    "variant",
    "draws",
    "name",
}
"""Fields of systems that are arguments of a request, or fixed by the choice of a system."""


@dataclass(frozen=True, kw_only=True)
class TrialRequest:
    """A grid of systems and trials.

    `models`: names of systems. `epsilons`: decimal strings. With `neighbour_epsilons`, systems with
    two-part guarantees run at every pair: `epsilons` for replacements, `neighbour_epsilons` for
    neighbours. Without, they divide each epsilon themselves. `ks` (numbers of neighbours),
    `damping` (of similarities) and `decays` (of older ratings) apply to the systems that have them,
    None for their defaults. So do `settings`, the other fields of a system or of a strict map's
    trainer, as text by name. `target`: index of the domain, the last by default. `lists`: also
    evaluate top-N lists of the target, with random and popularity baselines. Every trial also has
    the constant baselines.

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
    settings: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise RequestError(f"seeds must be at least 1, got {self.seeds}.")
        if not 0 < float(self.delta) < 1:
            raise RequestError(f"delta must be between 0 and 1, such as 1e-6, got {self.delta}.")
        if (self.damping or 0) < 0:
            raise RequestError(
                f"damping must be 0 or more, got {self.damping}; 0 disables damping."
            )
        self._require_settings()
        list(self._systems())
        list(self._protocols())

    @property
    def left_out(self) -> tuple[str, ...]:
        """Named systems that the mode excludes, each with its mode."""
        others = (
            f"{member.name} ({member.mode})"
            for name in self.models
            for member in crossdomain.systems(name, "both")
            if member.mode not in ("none", self.mode) and self.mode != "both"
        )
        return tuple(dict.fromkeys(others))

    def cells(self, domains: Domains) -> list[TrialCell]:
        """Return all cells. Those of one trial are consecutive. Raises `RequestError` for ratings
        where a system ranks implicit feedback, and the reverse."""
        implicit = domains.ratings.scale.has_one_level
        self._check_kind(implicit)
        data = domains.ratings.fingerprint
        target = range(len(domains.names))[self.target]
        return [
            TrialCell(
                data=data,
                names=domains.names,
                target=target,
                system=system,
                epsilon=epsilon,
                protocol=protocol,
                seed=seed,
                lists=self.lists or implicit,
            )
            for seed in range(self.seeds)
            for protocol in self._protocols()
            for system, epsilon in (*self.claims(), *self._baselines(seed, implicit=implicit))
        ]

    def experiment(
        self, domains: Domains, engine: Engine, run: Provenance | None = None
    ) -> Experiment[TrialCell, TrialRow]:
        """Declare the experiment on these domains. `run`: the provenance of its report."""
        return Experiment(
            title="evaluating",
            row=TrialRow,
            cells=self.cells(domains),
            measure=TrialMeasurement(domains, engine),
            text=as_text,
            page=lambda rows: report(rows, run),
        )

    def _protocols(self) -> Iterator[Holdout]:
        for overlap in self.overlaps:
            for keep in self.keeps:
                yield Holdout(test_share=self.test_share, overlap=overlap, keep=keep)

    def claims(self) -> Iterator[tuple[System, str | None]]:
        """Yield every system with every epsilon that applies to it."""
        for system in self._systems():
            if system.mode == "none":
                yield system, None
            else:
                yield from product(self._parted(system), self.epsilons)

    def _baselines(self, seed: int, *, implicit: bool) -> list[tuple[System, None]]:
        """Return the constants, unless they are named, where ratings are predicted, and the
        baselines of lists where lists are evaluated."""
        constants = [each for each in crossdomain.CONSTANTS if each.name not in self.models]
        lists = list_baselines(seed) if self.lists or implicit else ()
        return [(each, None) for each in (*(() if implicit else constants), *lists)]

    def _check_kind(self, implicit: bool) -> None:
        known = crossdomain.LIST_SYSTEMS if implicit else crossdomain.SYSTEMS
        for name in self.models:
            if name not in known:
                data = "implicit feedback" if implicit else "ratings"
                raise RequestError(
                    f"model must be one of {', '.join(known)} for {data}, got '{name}'."
                )

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
                    changed = crossdomain.with_texts(system, self.settings)
                    yield crossdomain.changed(changed, **settings)

    def _require_settings(self) -> None:
        """Raise `RequestError` for a setting that no system has, or that has an option."""
        chosen = [s for name in self.models for s in crossdomain.systems(name, self.mode)]
        known = {key for system in chosen for key in vars(crossdomain.settings_of(system))}
        for name in self.settings:
            if name not in known - OPTIONS:
                raise RequestError(
                    f"None of the systems has the setting '{name}', beyond options; the settings "
                    f"are {', '.join(sorted(known - OPTIONS)) or 'none'}."
                )

    def _settings(self, system: System) -> Iterator[dict[str, Any]]:
        """Yield all combinations of the requested settings that the system has."""
        axes: dict[str, Sequence[Any] | None]
        damping = None if self.damping is None else [self.damping]
        axes = {"k": self.ks, "damping": damping, "decay": self.decays, "delta": [self.delta]}
        requested = {name: at for name, at in axes.items() if at and name in vars(system)}
        for places in product(*requested.values()):
            yield dict(zip(requested, places, strict=True))


class TrialMeasurement:
    """Measures cells on one set of domains, and caches the last trial."""

    def __init__(self, domains: Domains, engine: Engine) -> None:
        self._domains = domains
        self._engine = engine
        self._trials = Latest[tuple[HeldOut, AskedCatalogue | None]]()

    def __call__(self, cell: TrialCell) -> list[TrialRow]:
        """Return the single row of an cell. The system runs once for all metrics."""
        trial = (cell.protocol, cell.target, cell.seed, cell.lists)
        hidden, catalogue = self._trials.of(trial, lambda: self._trial(cell))
        queried = hidden.trial if catalogue is None else catalogue.trial
        began = time.perf_counter()
        predictions = cell.system.predict(queried, engine=self._engine, epsilon=cell.epsilon)
        seconds = time.perf_counter() - began
        metrics = _figures(cell.system, hidden, catalogue, predictions.predicted)
        return [_row(cell, hidden.trial, predictions.guarantee, metrics, seconds)]

    def _trial(self, cell: TrialCell) -> tuple[HeldOut, AskedCatalogue | None]:
        hidden = cell.protocol.hide(self._domains, cell.target, cell.seed)
        return hidden, AskedCatalogue.of(hidden.trial) if cell.lists else None


def _figures(
    system: System, hidden: HeldOut, catalogue: AskedCatalogue | None, predicted: Predicted
) -> dict[str, float | None]:
    """Return the metric columns, None for those that were not measured."""
    require_finite(predicted)
    metrics: dict[str, float | None] = dict.fromkeys(FIGURES)
    if not isinstance(system, ListBaseline | crossdomain.ItemLists):
        ratings = predicted if catalogue is None else catalogue.of_hidden(predicted)
        metrics |= score(hidden.values, ratings, hidden.trial.domains.ratings.scale)._asdict()
    if catalogue is None or system in crossdomain.CONSTANTS:  # a constant ranks no items
        return metrics
    return metrics | catalogue.figures(hidden, predicted)


def _row(
    cell: TrialCell,
    trial: Trial,
    claim: Guarantee,
    metrics: dict[str, float | None],
    seconds: float,
) -> TrialRow:
    system = cell.system
    parts = (system.budget(cell.epsilon) if isinstance(system, Parted) else None) or (
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
        source=" + ".join(name for d, name in enumerate(cell.names) if d != cell.target),
        target=cell.names[cell.target],
        test_share=cell.protocol.test_share,
        overlap=cell.protocol.overlap,
        keep=cell.protocol.keep,
        k=getattr(system, "k", None),
        damping=getattr(system, "damping", None),
        decay=getattr(system, "decay", None),
        seed=cell.seed,
        n_train=len(trial.domains.ratings),
        n_test=len(trial.users),
        people=len(trial.people),
        seconds=seconds,
        **metrics,
    )


def _number(epsilon: str | None) -> float | None:
    return None if epsilon is None else float(epsilon)
