"""Channels and models as somebody gives them, by name or as objects, each under one name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

from tacit import models
from tacit.channels.table import Channel
from tacit.collection import plans
from tacit.collection.plan import Plan
from tacit.errors import RequestError
from tacit.evaluation.comparison.runner import Tools
from tacit.privacy.epsilon import epsilon_text
from tacit.ratings import Ratings
from tacit.reports import Reports
from tacit.scale import RatingScale

Member = TypeVar("Member")
SYMBOLS = 12
"""Of a channel's id, in the name that its rows have."""


@runtime_checkable
class Fits(Protocol):
    """Settings of a model of ratings."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    def fit(self, data: Any, *, rng: int = 0) -> Any:
        """What is learnt from evidence."""
        ...


@dataclass(frozen=True)
class Members:
    """Names in the order given, and what stands behind those of objects."""

    names: tuple[str, ...]
    objects: Mapping[str, Any]


def channels(given: object) -> Members:
    """Channels by name ("auto", or several by commas) or as `Channel`; raises `RequestError`."""
    return _members("channel", given, Channel, _table)


def model_members(given: object) -> Members:
    """Models by name or as settings, such as `MF(factors=5)`; raises `RequestError`."""
    return _members("model", given, Fits, _label)


def _members(kind: str, given: Any, known: type[Any], label: Callable[[Any], str]) -> Members:
    parts = [given] if isinstance(given, (str, known)) else given
    if not isinstance(parts, Iterable):
        raise RequestError(f"{kind} must be a name, an object or a list of them, got {given!r}.")
    found: dict[str, Any] = {}
    for part in parts:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(part, str):
            found |= {name.strip(): None for name in part.split(",") if name.strip()}
        elif isinstance(part, known) and not isinstance(part, type):
            found[label(part)] = part
        else:
            raise RequestError(f"{kind} must be a name, an object or a list of them, got {part!r}.")
    if not found:
        raise RequestError(f"{kind} must contain at least one name, such as {EXAMPLES[kind]}.")
    objects = {name: value for name, value in found.items() if value is not None}
    return Members(tuple(found), objects)


def _table(channel: Channel) -> str:
    """The name that the rows of a table have."""
    return f"table {channel.id[:SYMBOLS]}"


EXAMPLES = {"channel": "auto", "model": "channel-mf"}


def _label(model: Fits) -> str:
    """Its name, with the settings in which it differs from the model of that name."""
    usual = models.MODELS.get(model.name)
    known = vars(usual) if usual is not None else {}
    changed = [f"{k}={v}" for k, v in vars(model).items() if known.get(k, v) != v]
    return f"{model.name} with {' '.join(changed)}" if changed else model.name


def epsilons(given: object) -> tuple[str, ...]:
    """Epsilons in nats, numbers or text, one or several, as decimal strings, each once.

    Raises `RequestError` for what is none.
    """
    if isinstance(given, str):
        parts: list[object] = [*given.split(",")]
    elif isinstance(given, Iterable):
        parts = list(given)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    else:
        parts = [given]
    if not parts:
        raise RequestError("epsilon must contain at least one value, as in 0.5, 1, 3.")
    return tuple(dict.fromkeys(epsilon_text(part) for part in parts))


def own_epsilons(
    tables: Mapping[str, Channel], asked: Sequence[str], scale: RatingScale, plan: str
) -> dict[str, str]:
    """The epsilon of each channel that is given as a table, in nats per value or slot.

    Raises `RequestError` for one at an epsilon that is not asked for, on another scale, or of
    another kind of plan.
    """
    hides = plans.protects_presence(plan)
    for name, channel in tables.items():
        if channel.epsilon not in asked:
            raise RequestError(
                f"The channel {name} has epsilon {channel.epsilon} per "
                f"{'slot' if channel.missing else 'value'}, which is not among "
                f"{', '.join(asked)}; add it to the epsilons."
            )
        if channel.levels != scale.levels:
            raise RequestError(
                f"The channel {name} is not on the scale {scale}; compile it on that scale."
            )
        if channel.missing != hides:
            raise RequestError(
                f"The channel {name} {'protects' if channel.missing else 'does not protect'} "
                f"presence, and the plan {plan} {'does' if hides else 'does not'}; choose another "
                "channel or plan."
            )
    return {name: channel.epsilon for name, channel in tables.items()}


def with_objects(real: Tools, tables: Mapping[str, Channel], settings: Mapping[str, Any]) -> Tools:
    """The tools, which take these channels and models for their names."""
    if not tables and not settings:
        return real

    def plan(name: str, through: str, epsilon: str, scale: RatingScale, cap: int | None) -> Plan:
        if through in tables:
            return plans.plan(name, tables[through], cap)
        return real.plan(name, through, epsilon, scale, cap)

    def fit(model: str, data: Ratings | Reports, *, rng: int, **options: Any) -> Any:
        if model in settings:
            return settings[model].fit(models.evidence(data), rng=rng)
        return real.fit(model, data, rng=rng, **options)

    def where(model: str) -> Any:
        return ("provider", "device") if model in settings else real.where(model)

    def plugged(channel: str | None, model: str | None) -> str | None:
        mine = (None if channel in tables else channel, None if model in settings else model)
        return real.plugged(*mine)

    return replace(real, plan=plan, fit=fit, where=where, plugged=plugged)
