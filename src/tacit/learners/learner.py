"""Models and trainers by name, and what each can do.

A *model* is fitted to reports, which costs no further privacy. A *trainer* reads true ratings, adds
noise and has its own guarantee. Either predicts ratings or ranks items. One name means one learner:
a name that two registries claim is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self, cast

from tacit import models, registry, training
from tacit.channels import MECHANISMS
from tacit.errors import RequestError
from tacit.progress import Advance
from tacit.ratings import Ratings
from tacit.registry import Registry
from tacit.reports import Reports

REGISTRIES: tuple[Registry[Any], ...] = (
    models.MODELS,
    models.LIST_MODELS,
    training.STRICT_TRAININGS,
    training.LIST_TRAININGS,
)
RANKERS: tuple[Registry[Any], ...] = (models.LIST_MODELS, training.LIST_TRAININGS)
TRAINERS: tuple[Registry[Any], ...] = (training.STRICT_TRAININGS, training.LIST_TRAININGS)
EVERYWHERE = ("provider", "device")
"""Locations of a model: the provider from reports, or a device with its user's true ratings."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A model or trainer, and what it can do.

    `settings`: the object whose `fit` is called. `is_trainer`: whether it reads true ratings and
    has its own guarantee. `predicts`: whether it predicts ratings. Otherwise it ranks items
    only. `where`: locations where it predicts or ranks: "provider", "device", "curator". `unit`:
    what a trainer's epsilon protects, None for a model and for a plug-in that does not declare it.
    `modes`: of a trainer, "strict", "faithful" or both. `plugin`: the package or file that it comes
    from, None for a built-in one.
    """

    name: str
    settings: Any
    is_trainer: bool = False
    predicts: bool = True
    where: tuple[str, ...] = EVERYWHERE
    unit: str | None = None
    modes: tuple[str, ...] = ("none",)
    plugin: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its settings."""
        return tuple(cast("dict[str, Any]", vars(self.settings)))

    @property
    def supports_engine(self) -> bool:
        """Whether it can be fitted on an engine, with a checkpoint folder."""
        return "engine" in self.options

    @property
    def reads_items(self) -> bool:
        """Whether it uses a public item table."""
        return "item_table" in self.options

    def changed(self, options: Mapping[str, Any]) -> Self:
        """Return the learner with some settings changed. Raises `RequestError` for an option that
        is not among its settings, and for an invalid value."""
        if not options:
            return self
        kind = "trainer" if self.is_trainer else "model"
        return replace(self, settings=registry.changed(self.settings, self.name, kind, options))

    def fit(
        self,
        data: Ratings | Reports,
        *,
        rng: int = 0,
        epsilon: str | None = None,
        delta: str = "0",
        advance: Advance | None = None,
        **options: Any,
    ) -> Any:
        """Return the fitted model. `epsilon` (nats per `unit`) and `delta`: of a trainer.

        Raises `RequestError` for an option that is not among its settings.
        """
        chosen = self.changed(options).settings
        progress = {} if advance is None else {"advance": advance}
        if self.is_trainer:
            return chosen.fit(data, epsilon=epsilon, delta=delta, rng=rng, **progress)
        source = models.evidence(data) if self.predicts else models.interactions(data)
        return chosen.fit(source, rng=rng, **progress)


def learner(name: str, mode: str = "strict") -> Learner:
    """Return the named learner. A trainer without `mode` is returned in its only one.

    Raises `RequestError` for an unknown name, for one of several plug-ins, and for a plug-in that
    cannot be loaded.
    """
    registry.refuse_twins(name, REGISTRIES)
    home = next((each for each in REGISTRIES if name in each), None)
    if home is None:
        raise RequestError(f"model must be one of {', '.join(names())}, got '{name}'.")
    settings, modes = home[name], training.modes(name, "both")
    if mode in modes[1:]:
        settings = training.training(name, mode)
    is_trainer = any(home is each for each in TRAINERS)
    return Learner(
        name=name,
        settings=settings,
        is_trainer=is_trainer,
        predicts=not any(home is each for each in RANKERS),
        where=settings.where if is_trainer else _locations(name),
        unit=training.unit(name),
        modes=modes or ("none",),
        plugin=home.plugin(name),
    )


def names() -> list[str]:
    """Return the names of all learners, models first, plug-ins after the built-in ones."""
    return list(chain(*REGISTRIES))


def _locations(name: str) -> tuple[str, ...]:
    """Return the locations of a model. Random lists are the same everywhere."""
    return ("provider",) if name == "random" else EVERYWHERE


def plugged(channel: str | None, model: Learner | None) -> str | None:
    """Return which of the two come from which plug-ins, comma-separated. None if neither does."""
    sources = [(channel, MECHANISMS.plugin(channel or ""))]
    sources += [] if model is None else [(model.name, model.plugin)]
    return ", ".join(f"{name} of {plugin}" for name, plugin in sources if plugin) or None
