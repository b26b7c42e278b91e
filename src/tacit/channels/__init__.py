"""Channels: integer tables that randomize ratings on the device.

Names are resolved lazily, and a mechanism's module is imported when it is compiled, so that
importing this package loads the standard library alone.
"""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError
from tacit.registry import Registry

if TYPE_CHECKING:
    from tacit.channels.certificate import certify as certify
    from tacit.channels.information import fisher_information as fisher_information
    from tacit.channels.mechanism import AbstractMechanism
    from tacit.channels.table import Channel as Channel
    from tacit.channels.thresholds import threshold_mix as threshold_mix
    from tacit.scale import RatingScale

_BUILT_IN = {
    "randomized-response": ".randomized_response:RandomizedResponse",
    "bounded-laplace": ".laplace:BoundedLaplace",
    "clamped-laplace": ".laplace:ClampedLaplace",
    "laplace": ".laplace:Laplace",
    "duchi": ".mean_estimation:Duchi",
    "piecewise": ".mean_estimation:Piecewise",
    "optimal": "..optimal_channel:Optimal",
    "modified-laplace": ".laplace:ModifiedLaplace",
}
"""Location of each mechanism's settings, relative to this package. One row per mechanism."""


def _mechanism(name: str, declared: Any) -> "type[AbstractMechanism]":
    """Return the class of a row, importing its module, or the class declared by a plug-in."""
    from tacit.channels.mechanism import AbstractMechanism

    settings_class = declared
    if name in _BUILT_IN:
        module, _, member = declared.partition(":")
        try:
            settings_class = getattr(import_module(module, __name__), member)
        except ModuleNotFoundError as error:  # devices install no solver for tables
            raise RequestError(
                f"The channel {name} requires {error.name}, which is not installed. Run pip "
                "install tacit-recommender, or load a compiled channel with "
                "tacit.wire.channel.loads."
            ) from error
    if not isinstance(settings_class, type) or not issubclass(settings_class, AbstractMechanism):
        raise RequestError(f"{settings_class!r} is not a subclass of AbstractMechanism")
    return settings_class


MECHANISMS = Registry("channels", _BUILT_IN, _mechanism, reserved=("auto", "identity"))
"""Settings of every channel by its public name. Plug-ins are loaded on first use."""

_NAMES = {
    "Channel": "table",
    "certify": "certificate",
    "fisher_information": "information",
    "threshold_mix": "thresholds",
}

CANDIDATES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("randomized-response", {}),
    ("optimal", {}),
    ("optimal", {"objective": "information"}),
    ("piecewise", {}),
    ("duchi", {}),
)
"""Candidates of `choose_channel`, in the order that settles ties. Laplace is never the best."""


def settings_of(name: str) -> "type[AbstractMechanism]":
    """Return the settings class of a channel's public name.

    Raises `RequestError` for a name that is not in `MECHANISMS`, including identity, and for a
    plug-in that cannot be loaded.
    """
    if name == "identity":
        raise RequestError(
            "identity adds no noise, so it has no table and no certificate; choose one of "
            f"{', '.join(MECHANISMS)}."
        )
    if name not in MECHANISMS:
        raise RequestError(f"channel must be one of {', '.join(MECHANISMS)}, got '{name}'.")
    return MECHANISMS[name]


def serves(name: str, *, missing: bool) -> bool:
    """Return whether a channel has tables with, or without, the input "missing"."""
    setting = settings_of(name).__dataclass_fields__.get("missing")
    return setting is not None if missing else setting is None or setting.default is False


def compile_channel(
    name: str,
    *,
    epsilon: str | float,
    scale: "RatingScale | str",
    missing: bool = False,
    **options: Any,
) -> "Channel":
    """Return the certified channel of a mechanism at `epsilon` over a public scale.

    `epsilon`: nats, per value, or per slot with an input "missing"; a decimal string, or a number
    at its shortest decimal. `scale`: a `RatingScale` or its text, such as "1:5:1". `missing`:
    whether the table protects presence too. `options`: other settings of the mechanism. Raises
    `RequestError` for unknown settings, and `CertificateError` if the verifier rejects the compiled
    table.

    >>> compile_channel("randomized-response", epsilon="1", scale="1:5:1").weights[0][:2]
    (7463731128007847912, 2745753236425425926)
    """
    from tacit.scale import RatingScale

    grid = scale if isinstance(scale, RatingScale) else RatingScale.parse(scale)
    member = settings_of(name)
    settings = {**options, "missing": True} if missing else options
    unknown = sorted(set(settings) - set(member.__dataclass_fields__))
    if unknown:
        raise RequestError(f"The channel {name} has no setting {', '.join(unknown)}; leave it out.")
    mechanism = member(epsilon=_text(epsilon), scale=grid, **settings)
    # A setting may be a list, which has no hash, and equality of a plug-in's settings is its own.
    is_plain = name in _BUILT_IN and all(isinstance(each, str | int) for each in settings.values())
    return _known_table(mechanism) if is_plain else _certified(mechanism)


def _certified(mechanism: "AbstractMechanism") -> "Channel":
    """Return the table of a mechanism. Raises `CertificateError` if the verifier rejects it."""
    from tacit.channels.certificate import certify

    channel = mechanism.table()
    certify(channel)
    return channel


_known_table = lru_cache(maxsize=64)(_certified)
"""The same for settings that are known: a comparison needs a table for every model and seed."""


def _text(epsilon: str | float) -> str:
    """Return text unchanged: mechanisms reject an invalid epsilon, and some allow 0."""
    from tacit.privacy.ledger import epsilon_text

    return epsilon if isinstance(epsilon, str) else epsilon_text(epsilon)


def choose_channel(
    *, epsilon: str | float, scale: "RatingScale | str", missing: bool = False
) -> "tuple[str, Channel]":
    """Return name and table of the most informative channel about theta: `--channel auto`.

    The criterion, `fisher_information` averaged over a public prior, reads no rating. Where
    presence is protected only tables with "missing" are candidates, compared by information per
    slot. `epsilon`: nats per value or slot, a decimal string or a number.
    """
    from tacit.channels.information import fisher_information

    compiled = [
        (name, compile_channel(name, epsilon=epsilon, scale=scale, missing=missing, **options))
        for name, options in CANDIDATES
        if not missing or serves(name, missing=True)
    ]
    # Six digits: smaller differences are rounding, and a tie goes to the simpler table.
    return max(compiled, key=lambda candidate: float(f"{fisher_information(candidate[1]):.6g}"))


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'tacit.channels' has no attribute '{name}'")
    return getattr(import_module(f"tacit.channels.{_NAMES[name]}"), name)
