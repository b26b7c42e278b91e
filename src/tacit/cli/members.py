"""`tacit list`: what there is of channels, models, trainings and data sets, a line each."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Annotated, Any, cast

import typer

from tacit.errors import RequestError

Line = tuple[str, str]


def members(
    kind: Annotated[str, typer.Argument(help="channels, models, trainings or datasets.")],
) -> None:
    """List what there is, a name and a line each; other options take these names.

    Examples:

        tacit list channels

        tacit list models
    """
    if kind not in KINDS:
        raise RequestError(f"There is no list of '{kind}'; choose from {', '.join(KINDS)}.")
    lines = list(KINDS[kind]())
    width = max(len(name) for name, _ in lines)
    for name, sentence in lines:
        typer.echo(f"{name:{width}}  {sentence}")


def _channels() -> Iterable[Line]:
    from tacit.channels import MECHANISMS, serves, settings_of

    for name in MECHANISMS:
        hides = "per slot" if serves(name, missing=True) else "per value"
        both = serves(name, missing=True) and serves(name, missing=False)
        unit = "per value or slot" if both else hides
        yield name, f"{_first(settings_of(name))}; epsilon {unit}"


def _models() -> Iterable[Line]:
    from tacit.models import LIST_MODELS, MODELS

    for name, member in (*MODELS.items(), *LIST_MODELS.items()):
        yield name, _described(member)


def _trainings() -> Iterable[Line]:
    from tacit.training import LIST_TRAININGS, PER_PERSON, modes, names, training

    for name in names():
        unit = "user" if name in PER_PERSON else "value"
        had = " or ".join(modes(name, "both"))
        yield name, f"{_described(training(name))}; {had}, epsilon per {unit}"
    for name, member in LIST_TRAININGS.items():
        yield name, f"{_described(member)}; strict, epsilon per user"


def _datasets() -> Iterable[Line]:
    from tacit.readers.datasets import ARCHIVES

    return ((each.name, f"{each.url} {each.note}".rstrip()) for each in ARCHIVES)


def _described(member: Any) -> str:
    """What its file says that it is, and what tells it from others of that file."""
    own = [
        f"{field.name}={getattr(member, field.name)}"
        for field in fields(member)
        if field.name in ("items", "people", "biases", "implicit", "noise")
    ]
    return _first(cast("type[Any]", type(member))) + (f" ({', '.join(own)})" if own else "")


def _first(kind: type[Any]) -> str:
    """The first line of the file that declares it."""
    text = sys.modules[kind.__module__].__doc__ or ""
    return text.partition("\n")[0].rstrip(".")


KINDS: dict[str, Callable[[], Iterable[Line]]] = {
    "channels": _channels,
    "models": _models,
    "trainings": _trainings,
    "datasets": _datasets,
}
