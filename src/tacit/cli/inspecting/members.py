"""`tacit list`: channels, models, trainers and other registries, one line each."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from inspect import getdoc
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit import plugins
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.readers.format import Format

Line = tuple[str, str]


def members(
    kind: Annotated[
        str,
        typer.Argument(
            help="`channels`, `models`, `trainers`, `readers` or `datasets`.",
            autocompletion=lambda: list(KINDS),
        ),
    ],
) -> None:
    """List channels, models, trainers, readers or data sets.

    Other options accept these names. Plug-in components are listed last, with their origin, or
    with the reason why they were rejected.

    Examples:

        tacit list channels

        tacit list models
    """
    if kind not in KINDS:
        raise RequestError(f"The list must be one of {', '.join(KINDS)}, got '{kind}'.")
    lines = [*KINDS[kind](), *chain(*map(_plugged, ALSO.get(kind, ())))]
    width = max(len(name) for name, _ in lines)
    for name, sentence in lines:
        typer.echo(f"{name:{width}}  {sentence}")


def _channels() -> Iterable[Line]:
    from tacit.channels import MECHANISMS, serves, settings_of

    for name in MECHANISMS.own:
        hides = "per slot" if serves(name, missing=True) else "per value"
        both = serves(name, missing=True) and serves(name, missing=False)
        unit = "per value or slot" if both else hides
        yield name, f"{_first(settings_of(name))}; epsilon {unit}"


def _models() -> Iterable[Line]:
    from tacit.models import LIST_MODELS, MODELS

    for name, member in (*MODELS.own.items(), *LIST_MODELS.own.items()):
        yield name, _described(member)


def _trainers() -> Iterable[Line]:
    from tacit.training import LIST_TRAININGS, STRICT_TRAININGS, modes

    for name, member in (*STRICT_TRAININGS.own.items(), *LIST_TRAININGS.own.items()):
        had = " or ".join(modes(name, "both"))
        yield name, f"{_described(member)}; {had}, epsilon per {member.unit}"


def _readers() -> Iterable[Line]:
    from tacit.readers import FORMATS

    for name, format in FORMATS.own.items():
        yield name, _recognised(format)


def _recognised(format: "Format") -> str:
    return f"{', '.join(format.patterns)}; scale {format.scale or 'declared or inferred'}"


def _datasets() -> Iterable[Line]:
    from tacit.readers.download import ARCHIVES

    return ((each.name, f"{each.url} {each.note}".rstrip()) for each in ARCHIVES)


def _plugged(kind: str) -> Iterable[Line]:
    """List the plug-in entries of a kind, with the first line of their description."""
    from tacit.cli.plugins import accept

    for name, entries in plugins.claims(kind).items():
        try:
            member: Any = accept(entries[0])
        except RequestError as refusal:
            yield name, str(refusal)
        else:
            description = (
                _recognised(member) if kind == "readers" else getdoc(member) or "no description"
            )
            description = description.partition("\n")[0].rstrip(".")
            yield name, f"{description}; of {entries[0].plugin}"


def _described(member: Any) -> str:
    """Describe an entry by its docstring's first line, and the fields that distinguish it."""
    settings = [
        f"{field.name}={getattr(member, field.name)}"
        for field in fields(member)
        if field.name in ("items", "people", "biases", "implicit", "noise", "screened")
    ]
    return _first(member.__class__) + (f" ({', '.join(settings)})" if settings else "")


def _first(kind: type[Any]) -> str:
    """Return the first docstring line of a class."""
    return (getdoc(kind) or "").partition("\n")[0].rstrip(".")


KINDS: dict[str, Callable[[], Iterable[Line]]] = {
    "channels": _channels,
    "models": _models,
    "trainers": _trainers,
    "readers": _readers,
    "datasets": _datasets,
}
ALSO = {
    "channels": ["channels"],
    "models": ["models", "list_models"],
    "trainers": ["trainings", "list_trainings"],
    "readers": ["readers"],
}
"""Plug-in kinds of each list."""
