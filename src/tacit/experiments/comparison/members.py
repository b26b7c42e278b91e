"""Channels and models of a comparison: names, or objects, which have names in the rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from tacit import models
from tacit.channels.table import Channel
from tacit.collection import named_plans
from tacit.collection.named_plans import PlanMaker
from tacit.collection.plan import Plan
from tacit.errors import RequestError, shown
from tacit.learners.learner import Learner, learner
from tacit.scale import RatingScale

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
    """Names in the order of the request. `objects`: those given as objects, by name."""

    names: tuple[str, ...]
    objects: Mapping[str, Any]


def channel_members(value: object) -> Members:
    """Parse channels: names ("auto", or comma-separated) or `Channel`. Raises `RequestError`."""
    return _members("channel", value, Channel, _table)


def model_members(value: object) -> Members:
    """Parse models: names or settings, such as `MF(factors=5)`. Raises `RequestError`."""
    return _members("model", value, Fits, _label)


def _members(kind: str, request: Any, known: type[Any], label: Callable[[Any], str]) -> Members:
    parts = [request] if isinstance(request, (str, known)) else request
    if not isinstance(parts, Iterable):
        raise RequestError(
            f"{kind} must be a name, an object or a list of them, got {shown(request)}."
        )
    members: dict[str, Any] = {}
    for part in parts:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(part, str):
            members |= {name.strip(): None for name in part.split(",") if name.strip()}
        elif isinstance(part, known) and not isinstance(part, type):
            members[label(part)] = part
        else:
            got = shown(cast("object", part))
            raise RequestError(f"{kind} must be a name, an object or a list of them, got {got}.")
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


def own_epsilons(
    tables: Mapping[str, Channel], requested: Sequence[str], scale: RatingScale, plan: str
) -> dict[str, str]:
    """Return the epsilon of each channel object, in nats per value or slot.

    Raises `RequestError` for one whose epsilon is not among the requested ones, and for one of
    another scale or kind of plan.
    """
    hides = named_plans.protects_presence(plan)
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
                f"presence, but the plan {plan} {'does' if hides else 'does not'}; choose another "
                "channel or plan."
            )
    return {name: channel.epsilon for name, channel in tables.items()}


def with_channels(channels: Mapping[str, Channel]) -> PlanMaker:
    """Return the plan maker in which these channel objects have names."""
    if not channels:
        return named_plans.plan_of

    def make(name: str, channel: str, epsilon: str, scale: RatingScale, cap: int | None) -> Plan:
        if channel in channels:
            return named_plans.plan(name, channels[channel], cap)
        return named_plans.plan_of(name, channel, epsilon, scale, cap)

    return make


def with_models(settings: Mapping[str, Any]) -> Callable[[str, str], Learner]:
    """Return the look-up of learners in which these model objects have names."""
    objects = {name: Learner(name=name, settings=model) for name, model in settings.items()}

    def find(name: str, mode: str) -> Learner:
        return objects.get(name) or learner(name, mode)

    return find
