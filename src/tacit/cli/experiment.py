"""`tacit compare out.toml`: the experiment of a file, as it would be typed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.evaluation.experiment_file import Recorded

SUFFIX = ".toml"
WHERE = ("json", "report", "engine", "master")
"""Where results go and where it runs: not in a file, and given beside one."""
ELSEWHERE = ("data", *WHERE)


def again(context: typer.Context, path: Path) -> NoReturn:
    """Run the experiment at `path`, there and with its results going where this command says.

    Raises `RequestError` for a file that is none, for other options beside it, and for a result
    whose own file would be written over this one.
    """
    given = [
        each.name
        for each in context.command.params
        if each.name in context.params
        and each.name not in ELSEWHERE
        and context.params[each.name] != each.default
    ]
    if given:
        shown = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise RequestError(
            f"{path} defines the whole experiment, so {shown} cannot be given with it. Write "
            "these options into the file."
        )
    from tacit.evaluation.experiment_file import read
    from tacit.evaluation.outputs import ROWS, writable

    writable(context.params["json"], read=(path,), beside=(*ROWS, SUFFIX))
    options, recorded = read(path)
    data = str(options.pop("data"))
    given_here = {name: str(context.params[name]) for name in WHERE if context.params[name]}
    typed = [*_arguments(options | given_here), "--", data]
    child = context.command.make_context("compare", typed, parent=context.parent, obj=recorded)
    with child:
        child.command.invoke(child)
    raise typer.Exit


def recorded(context: typer.Context) -> "Recorded":
    """What the file says whose experiment this is; nothing where options were typed."""
    from tacit.evaluation.experiment_file import Recorded

    return context.obj or Recorded()


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """As they would be typed; a list as its values with commas."""
    typed: list[str] = []
    for name, value in options.items():
        listed = cast(list[object], value) if isinstance(value, list) else [value]
        shown = ",".join(map(str, listed))
        typed += [f"--{name}"] if value is True else [f"--{name}", shown]
    return typed
