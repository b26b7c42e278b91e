"""Channels, plans and models of the grid, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, cast
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from tacit import channels, models, training
from tacit.channels.table import Channel
from tacit.collection import plans
from tacit.collection.perturb import perturb as perturb
from tacit.collection.plan import Plan
from tacit.engines.engine import Engine
from tacit.errors import RequestError
from tacit.experiments.defaults import POPULARITY, RANDOM
from tacit.experiments.grid import IDENTITY
from tacit.models.lists.exclusion import Where
from tacit.models.lists.from_ratings import lists_by_rating
from tacit.privacy.guarantee import Guarantee
from tacit.ratings import Codes, Ratings
from tacit.registry import Registry, refuse_twins
from tacit.reports import Reports
from tacit.scale import RatingScale

AUTO = "auto"
Floats = NDArray[np.floating[Any]]
Lister = Callable[[Any, Ratings, str, int], Codes]
"""Recommend: fitted model, true ratings of the users, location, list length -> item indices."""
BY_MODEL = (models.MODELS, models.LIST_MODELS, training.STRICT_TRAININGS, training.LIST_TRAININGS)
"""Registries of model names."""

Advance = Callable[[float], None]
"""Progress callback with the completed share, 0 to 1."""


class Predictor(Interface):
    """Interface of a fitted model."""

    def predict_codes(self, users: Codes, items: Codes) -> Floats:
        """Return the predicted rating of each pair of indices into the training vocabulary."""
        ...


class Trained(Predictor, Interface):
    """Interface of the model of a trainer, which has a guarantee."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the training."""
        ...


@dataclass(frozen=True)
class Tools:
    """Functions of the grid, injected: `tools` returns the real ones, tests use others.

    `plan(name, channel, epsilon, scale, cap)`: a plan over a channel, "auto" included.
    `perturb(ratings, plan)`: the reports. `fit(model, data, rng=.., ..)`,
    `train(model, ratings, epsilon=.., rng=.., ..)` and `device_predict(fitted, own, users, items)`:
    as in `tacit.models`. `lists(fitted, own, where, length)`: the lists of all users.
    `where(model)`: the locations where it predicts. `rates(model)`: whether it predicts ratings.
    `reads_items(model)`: whether it uses a public item table. `plugged(channel, model)`: which of
    the two come from plug-ins.
    """

    plan: Callable[[str, str, str, Any, int | None], Plan]
    perturb: Callable[[Ratings, Plan], Reports]
    fit: Callable[..., Any]
    train: Callable[..., Trained]
    device_predict: Callable[[Any, Ratings, Codes, Codes], Floats]
    lists: Lister
    where: Callable[[str], Sequence[str]] = lambda model: ("provider", "device")
    rates: Callable[[str], bool] = lambda model: True
    reads_items: Callable[[str], bool] = lambda model: False
    plugged: Callable[[str | None, str | None], str | None] = lambda channel, model: None


def channel(name: str, epsilon: str, scale: RatingScale, *, missing: bool = False) -> Channel:
    """Compile the channel of that name, or for "auto" the most informative under a public prior.

    A name may have settings: "optimal objective=information". `epsilon`: nats per value or slot.
    """
    if name == AUTO:
        return channels.choose(epsilon=epsilon, scale=scale, missing=missing)[1]
    member, *settings = name.split()
    options = dict(setting.split("=") for setting in settings)
    return channels.compile_channel(
        member, epsilon=epsilon, scale=scale, missing=missing, **options
    )


def plan(name: str, through: str, epsilon: str, scale: RatingScale, cap: int | None) -> Plan:
    """Return the plan of that name over the channel `through`, with "missing" if required.

    `epsilon`: nats per value or slot.
    """
    missing = plans.protects_presence(name)
    return plans.plan(name, channel(through, epsilon, scale, missing=missing), cap)


def fit(
    model: str,
    data: Ratings | Reports,
    *,
    rng: int,
    advance: Advance = lambda done: None,
    **options: Any,
) -> Any:
    """Fit a model. `options` that it does not have are ignored."""
    chosen = models.LIST_MODELS.get(model) or models.model(model)
    return models.fit(model, data, rng=rng, advance=advance, **_had(chosen, options))


def train(
    model: str,
    ratings: Ratings,
    *,
    epsilon: str,
    rng: int,
    mode: str = "strict",
    delta: str = "0",
    advance: Advance = lambda done: None,
    **options: Any,
) -> Any:
    """Run a trainer at `epsilon`, in nats per unit of its guarantee."""
    known = training.LIST_TRAININGS.get(model) or training.training(model, mode)
    spent: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "mode": mode, "rng": rng}
    return training.train(model, ratings, advance=advance, **spent, **_had(known, options))


def lists(
    fitted: Any, own: Ratings, where: str, length: int, engine: Engine | None = None
) -> Codes:
    """Return the lists of a list model, or lists by predicted rating. Those of devices are computed
    on the engine. `where`: "provider", "curator" or "device"."""
    if isinstance(fitted, models.Fitted):
        return lists_by_rating(fitted, own, length, where=cast("Where", where), engine=engine)
    return fitted.lists(own, length, where=where)


def rates(model: str) -> bool:
    """Return whether a model predicts ratings."""
    return model not in models.LIST_MODELS and model not in training.LIST_TRAININGS


def reads_items(model: str) -> bool:
    """Return whether a model uses a public item table."""
    return hasattr(models.MODELS.get(model), "item_table")


def learns_elsewhere(model: str) -> bool:
    """Return whether a model can be fitted on an engine, with a checkpoint folder."""
    return hasattr(models.LIST_MODELS.get(model) or models.MODELS.get(model), "engine")


def with_devices_on(engine: Engine | None, real: Tools, model_names: Sequence[str]) -> Tools:
    """Return the tools, with devices simulated on the engine. None: this process.

    Raises `RequestError` for an invalid engine, and for a model whose devices rank items by item
    weights, which only this process supports. Popularity uses no weights and is accepted.
    """
    if engine is None:
        return real
    if not callable(getattr(engine, "over", None)):
        raise RequestError(
            "engine must be an engine such as Local(blocks=4) or Spark('local[2]'), got "
            f"{engine!r}."
        )
    by_weights = [name for name in model_names if name != POPULARITY and not real.rates(name)]
    here = [name for name in by_weights if "device" in real.where(name)]
    if here:
        raise RequestError(
            f"Devices with {', '.join(here)} can only be simulated in this process; leave out the "
            "engine, or choose models that predict ratings."
        )
    return replace(
        real,
        device_predict=partial(models.device_predict, engine=engine),
        lists=partial(lists, engine=engine),
    )


def where(model: str) -> tuple[str, ...]:
    """Return the locations where a model predicts or recommends."""
    if model == RANDOM:  # its lists are the same at every location
        return ("provider",)
    if model in training.LIST_TRAININGS:
        return training.LIST_TRAININGS[model].where
    had = training.modes(model)
    return training.training(model, had[0]).where if had else ("provider", "device")


def plugged(channel: str | None, model: str | None) -> str | None:
    """Return which of the two come from which plug-ins, comma-separated. None if neither does."""
    sources = [(channel, channels.MECHANISMS.plugin(channel or ""))]
    sources += [(model, registry.plugin(model or "")) for registry in BY_MODEL]
    return ", ".join(f"{name} of {plugin}" for name, plugin in sources if plugin) or None


def tools() -> Tools:
    """Return the tools of `tacit compare`."""
    return Tools(
        plan, perturb, fit, train, models.device_predict, lists, where, rates, reads_items, plugged
    )


def resolved(real: Tools, auto: Mapping[str, str]) -> Tools:
    """Return the tools with "auto" fixed to the channel in `auto`, by epsilon."""

    def fixed(name: str, through: str, epsilon: str, scale: RatingScale, cap: int | None) -> Plan:
        known = auto.get(epsilon, through) if through == AUTO else through
        return real.plan(name, known, epsilon, scale, cap)

    return replace(real, plan=fixed)


def auto_names(slots: Sequence[tuple[str, str]], scale: RatingScale) -> dict[str, str]:
    """Return the channel, with its settings, that "auto" resolves to under each plan and epsilon,
    by epsilon."""
    return {
        epsilon: _auto_name(epsilon, scale, plans.protects_presence(plan))
        for plan, epsilon in slots
    }


def _auto_name(epsilon: str, scale: RatingScale, missing: bool) -> str:
    name, chosen = channels.choose(epsilon=epsilon, scale=scale, missing=missing)
    named = [
        " ".join((name, *(f"{setting}={value}" for setting, value in options.items())))
        for candidate, options in channels.CANDIDATES
        if candidate == name
    ]
    return next(
        words for words in named if channel(words, epsilon, scale, missing=missing).id == chosen.id
    )


def check(
    channel_names: Sequence[str],
    model_names: Sequence[str],
    plan_name: str,
    *,
    items: bool = False,
) -> None:
    """Validate names before any work is done. Raises `RequestError` for an unknown or ambiguous
    name, a plug-in that cannot be loaded, a channel that does not support the plan, and an item
    table that no model uses."""
    _among("channel", channel_names, (channels.MECHANISMS,), AUTO, IDENTITY)
    _among("model", model_names, BY_MODEL)
    if items and not any(map(reads_items, model_names)):
        readers = [name for name in models.MODELS.own if reads_items(name)]
        raise RequestError(
            f"items is not used by {', '.join(model_names)}; leave it out, or choose "
            f"{', '.join(readers)}."
        )
    missing = plans.protects_presence(plan_name)
    for name in channel_names:
        if name not in (AUTO, IDENTITY) and not channels.serves(name, missing=missing):
            fit = [
                each for each in channels.MECHANISMS.own if channels.serves(each, missing=missing)
            ]
            hides = (
                f"protects the value only, and the plan {plan_name} also protects presence"
                if missing
                else f"also protects presence, which the plan {plan_name} reveals"
            )
            raise RequestError(
                f"The channel {name} {hides}; choose from {', '.join(fit)}, or auto."
            )


def _had(chosen: object, options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if hasattr(chosen, name)}


def _among(
    kind: str, names: Sequence[str], registries: Sequence[Registry[Any]], *others: str
) -> None:
    for name in names:
        refuse_twins(name, registries)
        having = [registry for registry in registries if name in registry]
        for registry in having:
            registry[name]
        if not having and name not in others:
            known = (*others, *chain(*registries))
            raise RequestError(f"{kind} must be one of {', '.join(known)}, got '{name}'.")
