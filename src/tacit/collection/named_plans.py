"""Plans and channels by their names on the command line.

A plan is `rated`, `catalogue` or `sample:K`. A channel is a mechanism's name, with settings if
required ("optimal objective=information"), or `auto`: the most informative one under a public
prior."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit import channels as mechanisms
from tacit import registry
from tacit.channels.table import Channel
from tacit.collection.plan import Plan
from tacit.collection.plans import Catalogue, Rated, Sample
from tacit.errors import RequestError
from tacit.scale import RatingScale

AUTO, IDENTITY = "auto", "identity"
"""Names of no mechanism: the most informative channel, and none, which is without privacy."""


PlanMaker = Callable[[str, str, str, RatingScale, int | None], Plan]
"""`plan_of`: plan name, channel name, epsilon in nats per value or slot, scale and cap -> plan."""
PLANS = ("rated", "catalogue", "sample:K")


def protects_presence(name: str) -> bool:
    """Return whether the named plan protects presence. Raises `RequestError` for other names."""
    kind, colon, slots = name.partition(":")
    if kind == "sample" and colon and slots.isdecimal() and int(slots) > 0:
        return True
    if name in ("rated", "catalogue"):
        return name == "catalogue"
    raise RequestError(
        "plan must be rated, catalogue or sample:K with K slots per user, as in sample:200, got "
        f"'{name}'."
    )


def plan(name: str, channels: Channel | Sequence[Channel], cap: int | None = None) -> Plan:
    """Return the named plan over certified channels. Raises as the plans do."""
    if not protects_presence(name):
        return Rated(channels, cap)
    if name == "catalogue":
        return Catalogue(channels, cap)
    return Sample(channels, int(name.partition(":")[2]), cap)


def channel_of(name: str, epsilon: str, scale: RatingScale, *, missing: bool = False) -> Channel:
    """Compile the named channel. `epsilon`: nats per value, or per slot with `missing`."""
    if name == AUTO:
        return mechanisms.choose_channel(epsilon=epsilon, scale=scale, missing=missing)[1]
    mechanism, *settings = name.split()
    options: dict[str, Any] = dict(setting.split("=") for setting in settings)
    for key, known in mechanisms.settings_of(mechanism).__dataclass_fields__.items():
        if key in options and str(known.type) in registry.WHOLE and options[key].isdecimal():
            options[key] = int(options[key])
    return mechanisms.compile_channel(
        mechanism, epsilon=epsilon, scale=scale, missing=missing, **options
    )


def plan_of(
    name: str, channel: str, epsilon: str, scale: RatingScale, cap: int | None = None
) -> Plan:
    """Return the named plan over the named channel, with "missing" if the plan hides presence.

    `epsilon`: nats per value or slot. `cap`: maximum number of ratings per user.
    """
    missing = protects_presence(name)
    return plan(name, channel_of(channel, epsilon, scale, missing=missing), cap)


def check_channels(names: Sequence[str], plan_name: str) -> None:
    """Raise `RequestError` for an unknown channel or plan, a plug-in that cannot be loaded, and a
    channel that does not support the plan."""
    missing = protects_presence(plan_name)
    for name in names:
        registry.refuse_twins(name, (mechanisms.MECHANISMS,))
        if name in (AUTO, IDENTITY):
            continue
        if name not in mechanisms.MECHANISMS:
            known = ", ".join((AUTO, IDENTITY, *mechanisms.MECHANISMS))
            raise RequestError(f"channel must be one of {known}, got '{name}'.")
        if not mechanisms.serves(name, missing=missing):
            hides = (
                f"protects the value only, but the plan {plan_name} also protects presence"
                if missing
                else f"also protects presence, which the plan {plan_name} reveals"
            )
            others = ", ".join(
                each
                for each in mechanisms.MECHANISMS.own
                if mechanisms.serves(each, missing=missing)
            )
            raise RequestError(f"The channel {name} {hides}; choose from {others}, or auto.")


def resolve_auto(slots: Sequence[tuple[str, str]], scale: RatingScale) -> dict[str, str]:
    """Return the channel, with its settings, that "auto" means under each (plan, epsilon), by
    epsilon in nats per value or slot."""
    return {epsilon: _auto_name(epsilon, scale, protects_presence(plan)) for plan, epsilon in slots}


def _auto_name(epsilon: str, scale: RatingScale, missing: bool) -> str:
    name, chosen = mechanisms.choose_channel(epsilon=epsilon, scale=scale, missing=missing)
    names = [
        " ".join((name, *(f"{setting}={value}" for setting, value in options.items())))
        for candidate, options in mechanisms.CANDIDATES
        if candidate == name
    ]
    return next(
        each for each in names if channel_of(each, epsilon, scale, missing=missing).id == chosen.id
    )


def with_auto(resolved: Mapping[str, str], make: PlanMaker = plan_of) -> PlanMaker:
    """Return `make` with "auto" fixed to the channel in `resolved`, by epsilon."""

    def fixed(name: str, channel: str, epsilon: str, scale: RatingScale, cap: int | None) -> Plan:
        known = resolved.get(epsilon, channel) if channel == AUTO else channel
        return make(name, known, epsilon, scale, cap)

    return fixed


@dataclass(frozen=True, kw_only=True)
class Preset:
    """`plan`: by name. `epsilon`: nats per slot, a decimal string. `why`: a sentence."""

    plan: str
    epsilon: str
    why: str


PRESETS = {
    "hard-to-link": Preset(
        plan="sample:200",
        epsilon="2",
        why="An attacker who knows eight of a user's ratings, stars included, identifies that "
        "user's reports among MovieLens 1M's 6,040 users at the first guess in less than 1 % of "
        "cases.",
    ),
}
"""Presets by name. Each was chosen by measurements on public ratings: with fewer users or items,
more users are linked."""


def preset(name: str) -> Preset:
    """Return the named preset. Raises `RequestError` for other names."""
    return registry.named(PRESETS, name, "preset")
