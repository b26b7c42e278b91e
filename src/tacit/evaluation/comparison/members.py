"""Channels and models of a request, by name or as objects."""

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
"""Number of digits of a channel's id in the name of its rows."""


@runtime_checkable
class Fits(Protocol):
    """Settings of a rating model."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    def fit(self, data: Any, *, rng: int = 0) -> Any:
        """Fit the model to evidence."""
        ...


@dataclass(frozen=True)
class Members:
    """Names in the order of the request, and the objects of those that are objects."""

    names: tuple[str, ...]
    objects: Mapping[str, Any]


def channels(value: object) -> Members:
    """Parse channels: names ("auto", or comma-separated) or `Channel`. Raises `RequestError`."""
    return _members("channel", value, Channel, _table)


def model_members(value: object) -> Members:
    """Parse models: names or settings, such as `MF(factors=5)`. Raises `RequestError`."""
    return _members("model", value, Fits, _label)


def _members(kind: str, request: Any, known: type[Any], label: Callable[[Any], str]) -> Members:
    parts = [request] if isinstance(request, (str, known)) else request
    if not isinstance(parts, Iterable):
        raise RequestError(f"{kind} must be a name, an object or a list of them, got {request!r}.")
    members: dict[str, Any] = {}
    for part in parts:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(part, str):
            members |= {name.strip(): None for name in part.split(",") if name.strip()}
        elif isinstance(part, known) and not isinstance(part, type):
            members[label(part)] = part
        else:
            raise RequestError(f"{kind} must be a name, an object or a list of them, got {part!r}.")
    if not members:
        raise RequestError(f"{kind} must contain at least one name, such as {EXAMPLES[kind]}.")
    objects = {name: value for name, value in members.items() if value is not None}
    return Members(tuple(members), objects)


def _table(channel: Channel) -> str:
    """Return the name of a channel object in its rows."""
    return f"table {channel.id[:SYMBOLS]}"


EXAMPLES = {"channel": "auto", "model": "channel-mf"}


def _label(model: Fits) -> str:
    """Return the model's name, with the settings that differ from its defaults."""
    usual = models.MODELS.get(model.name)
    known = vars(usual) if usual is not None else {}
    changed = [f"{k}={v}" for k, v in vars(model).items() if known.get(k, v) != v]
    return f"{model.name} with {' '.join(changed)}" if changed else model.name


def epsilons(value: object) -> tuple[str, ...]:
    """Parse one or several epsilons in nats, numbers or text. Returns distinct decimal strings.

    Raises `RequestError` for an invalid epsilon.
    """
    if isinstance(value, str):
        parts: list[object] = [*value.split(",")]
    elif isinstance(value, Iterable):
        parts = list(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    else:
        parts = [value]
    if not parts:
        raise RequestError("epsilon must contain at least one value, as in 0.5, 1, 3.")
    return tuple(dict.fromkeys(epsilon_text(part) for part in parts))


def own_epsilons(
    tables: Mapping[str, Channel], requested: Sequence[str], scale: RatingScale, plan: str
) -> dict[str, str]:
    """Return the epsilon of each channel object, in nats per value or slot.

    Raises `RequestError` for one whose epsilon is not among the requested ones, and for one of
    another scale or kind of plan.
    """
    hides = plans.protects_presence(plan)
    for name, channel in tables.items():
        if channel.epsilon not in requested:
            raise RequestError(
                f"The channel {name} has epsilon {channel.epsilon} per "
                f"{'slot' if channel.missing else 'value'}, which is not among "
                f"{', '.join(requested)}; add it to the epsilons."
            )
        if channel.levels != scale.levels:
            raise RequestError(
                f"The channel {name} is not on the scale {scale}; compile it for that scale."
            )
        if channel.missing != hides:
            raise RequestError(
                f"The channel {name} {'protects' if channel.missing else 'does not protect'} "
                f"presence, and the plan {plan} {'does' if hides else 'does not'}; choose another "
                "channel or plan."
            )
    return {name: channel.epsilon for name, channel in tables.items()}


def with_objects(real: Tools, tables: Mapping[str, Channel], settings: Mapping[str, Any]) -> Tools:
    """Return the tools, with these channel and model objects under their names."""
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
