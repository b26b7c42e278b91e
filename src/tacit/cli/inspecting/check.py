"""`tacit check`: conformance tests for a user-defined channel, model, trainer or attack."""

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

    The tests ship with Tacit. The command prints whether each claim holds, and why a claim fails.
    It then lists the properties that no test can verify. It exits with status 1 if a claim fails.
    Importing MODULE runs its code.

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
    article = "an" if battery.kind[0] in "aeiou" else "a"
    typer.echo(f"{member}, {article} {battery.kind}: {count - failed} of {count} claims hold.")
    typer.echo(f"Not tested: {UNPROVED[battery.kind]}.")
    if failed:
        sys.exit(1)


def _named(member: str) -> Any:
    """Import the object MODULE:NAME. Raises `RequestError` if it does not exist."""
    module, colon, name = member.rpartition(":")
    if not colon or not module or not name:
        raise RequestError(
            f"The object must be MODULE:NAME, as in my_package:MyChannel, got '{member}'."
        )
    try:
        namespace = _file(Path(module)) if module.endswith(".py") else _module(module)
    except RequestError:
        raise
    except (Exception, SystemExit) as error:  # user code may raise anything
        raise RequestError(
            f"{module} cannot be imported ({plugins.cause(error)}); correct it."
        ) from error
    if not hasattr(namespace, name):
        names = sorted(key for key in vars(namespace) if not key.startswith("_"))
        raise RequestError(
            f"{module} does not define '{name}'; it defines {', '.join(names) or 'nothing'}."
        )
    return getattr(namespace, name)


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
        raise RequestError(f"File {path} does not exist; specify a file that defines the object.")
    return plugins.module(path, path.stem)
