"""`tacit check`: the shipped battery of a channel, model, training or attack of one's own."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from tacit import plugins
from tacit.errors import RequestError


def check(
    member: Annotated[
        str,
        typer.Argument(
            help="The object to check, as MODULE:NAME or FILE.py:NAME.", metavar="MODULE:NAME"
        ),
    ],
) -> None:
    """Test your own channel, model, trainer or attack.

    The tests ship with Tacit. Prints one line per claim: it holds, or it fails and why. Then prints
    what no test can show. Exits with status 1 if a claim fails. MODULE is imported, which runs its
    code.

    Examples:

        tacit check my_package.channels:MyChannel

        tacit check attempt.py:MyModel
    """
    from tacit.testing.battery import UNPROVED, Battery

    battery = Battery.of(_named(member))
    failed = 0
    for verdict in battery.verdicts():
        failed += verdict.fault is not None
        typer.echo(f"{'holds' if verdict.fault is None else 'FAILS'}  {verdict.claim}.")
        if verdict.fault is not None:
            typer.echo(f"       {verdict.fault}")
    count = len(battery.claims)
    typer.echo(f"{member}, a {battery.kind}: {count - failed} of {count} claims hold.")
    typer.echo(f"Not tested: {UNPROVED[battery.kind]}.")
    if failed:
        sys.exit(1)


def _named(member: str) -> Any:
    """The object of that name; raises `RequestError` where there is none."""
    place, colon, name = member.rpartition(":")
    if not colon or not place or not name:
        raise RequestError(
            f"The object must be MODULE:NAME, as in my_package:MyChannel, got '{member}'."
        )
    try:
        found = _file(Path(place)) if place.endswith(".py") else _module(place)
    except RequestError:
        raise
    except (Exception, SystemExit) as error:  # what is from outside may raise anything
        raise RequestError(
            f"{place} cannot be imported ({plugins.cause(error)}); correct it."
        ) from error
    if not hasattr(found, name):
        own = sorted(key for key in vars(found) if not key.startswith("_"))
        raise RequestError(
            f"{place} does not define '{name}'; it has {', '.join(own) or 'nothing'}."
        )
    return getattr(found, name)


def _module(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise RequestError(
            f"Module {error.name} does not exist; install it, or name a file, as in "
            "attempt.py:MyModel."
        ) from error


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise RequestError(f"File {path} does not exist; name a file that defines the object.")
    return plugins.module(path, path.stem)
