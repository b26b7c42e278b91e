"""Request of `tacit crossdomain`: a grid of trials, and how it is run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tacit import crossdomain
from tacit.crossdomain.domains import Domains
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.trial import (
    System,
)
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.experiments.crossdomain.list_trials import list_baselines
from tacit.experiments.crossdomain.trial_cell import Parted, TrialCell
from tacit.experiments.crossdomain.trial_measurement import TrialMeasurement
from tacit.experiments.experiment import Experiment
from tacit.reporting.page import Provenance
from tacit.results.crossdomain.report import report
from tacit.results.crossdomain.rows import TrialRow, as_text

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
        data = domains.checksum
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
