"""Channels: integer tables that randomize ratings on the device.

Names are handed on when first asked for, and a mechanism's file is read when it is compiled, so
that importing this package loads the standard library alone.
"""

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
    "bounded-laplace": ".bounded_laplace:BoundedLaplace",
    "clamped-laplace": ".clamped_laplace:ClampedLaplace",
    "laplace": ".laplace:Laplace",
    "duchi": ".duchi:Duchi",
    "piecewise": ".piecewise:Piecewise",
    "optimal": "..optimal_channel:Optimal",
    "modified-laplace": ".modified_laplace:ModifiedLaplace",
}
"""Where the settings of each are declared, from here. One row a mechanism."""


def _mechanism(name: str, declared: Any) -> "type[AbstractMechanism]":
    """The class of a row, whose file is read now, or that a plug-in declares."""
    from tacit.channels.mechanism import AbstractMechanism

    found = declared
    if name in _BUILT_IN:
        module, _, member = declared.partition(":")
        try:
            found = getattr(import_module(module, __name__), member)
        except ModuleNotFoundError as error:  # what a device installs finds no tables by programme
            raise RequestError(
                f"The channel {name} requires {error.name}, which is not installed. Run pip "
                "install tacit-recommender, or load a compiled channel with "
                "tacit.wire.channel.loads."
            ) from error
    if not isinstance(found, type) or not issubclass(found, AbstractMechanism):
        raise RequestError(f"{found!r} is not a subclass of AbstractMechanism")
    return found


MECHANISMS = Registry("channels", _BUILT_IN, _mechanism, reserved=("auto", "identity"))
"""Every channel's settings by its public name; what a plug-in has is not loaded before it is asked
for."""

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
"""What `choose` compares, in the order that settles ties; the Laplace family never wins."""


def settings_of(name: str) -> "type[AbstractMechanism]":
    """The settings class of a channel's public name.

    Raises `RequestError` for a name that is not among `MECHANISMS`, and for a plug-in that does not
    load; identity is no channel.
    """
    if name == "identity":
        raise RequestError(
            "identity means no channel, so it has no table and no certificate; "
            f"choose one of {', '.join(MECHANISMS)}."
        )
    if name not in MECHANISMS:
        raise RequestError(f"channel must be one of {', '.join(MECHANISMS)}, got '{name}'.")
    return MECHANISMS[name]


def serves(name: str, *, missing: bool) -> bool:
    """Whether a channel of that public name has tables with, or without, the input "missing"."""
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
    """The certified channel of a mechanism at `epsilon` (a decimal string, or a number at its
    shortest decimal) over a public scale ("1:5:1" serves as well as a `RatingScale`).

    `missing` asks for a table that protects presence too; `options` are the mechanism's own
    settings. Raises `RequestError` for settings that the mechanism does not have, and
    `CertificateError` should the compiler ever make a table that the verifier refuses.

    Epsilon is in nats: per value, or per slot where the table has an input "missing".

    >>> compile_channel("randomized-response", epsilon="1", scale="1:5:1").weights[0][:2]
    (7463731128007847912, 2745753236425425926)
    """
    from tacit.channels.certificate import certify
    from tacit.scale import RatingScale

    grid = scale if isinstance(scale, RatingScale) else RatingScale.parse(scale)
    member = settings_of(name)
    settings = {**options, "missing": True} if missing else options
    unknown = sorted(set(settings) - set(member.__dataclass_fields__))
    if unknown:
        raise RequestError(f"The channel {name} has no setting {', '.join(unknown)}; leave it out.")
    channel = member(epsilon=_text(epsilon), scale=grid, **settings).table()
    certify(channel)
    return channel


def _text(epsilon: str | float) -> str:
    """Text as it is: what is no epsilon a mechanism refuses, and some know one of 0."""
    from tacit.privacy.epsilon import epsilon_text

    return epsilon if isinstance(epsilon, str) else epsilon_text(epsilon)


def choose(
    *, epsilon: str | float, scale: "RatingScale | str", missing: bool = False
) -> "tuple[str, Channel]":
    """The name and table of the channel that tells most about theta: `--channel auto`.

    The criterion, `fisher_information` averaged over a public prior, reads no rating. Where
    presence is protected only tables with "missing" will do, and it is information per slot.
    `epsilon`: nats per value or slot, a decimal string or a number.
    """
    from tacit.channels.information import fisher_information

    compiled = [
        (name, compile_channel(name, epsilon=epsilon, scale=scale, missing=missing, **options))
        for name, options in CANDIDATES
        if not missing or serves(name, missing=True)
    ]
    # Six digits: what is below them is the order of a sum, and a tie goes to the simpler table.
    return max(compiled, key=lambda found: float(f"{fisher_information(found[1]):.6g}"))


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'tacit.channels' has no attribute '{name}'")
    return getattr(import_module(f"tacit.channels.{_NAMES[name]}"), name)
