"""`tacit compare out.toml`: repetition of an experiment file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.experiments.comparison.experiment_file import Recorded

SUFFIX = ".toml"
WHERE = ("json", "report", "engine", "master")
"""Options of outputs and engine: not stored in an experiment file, and accepted with one."""
ELSEWHERE = ("data", *WHERE)


def again(context: typer.Context, path: Path) -> NoReturn:
    """Run the experiment file at `path`, with the outputs and the engine of this command.

    Raises `RequestError` for an invalid file, for other options together with it, and for a result
    whose experiment file would overwrite this one.
    """
    extra = [
        each.opts[0]
        for each in context.command.params
        if each.name in context.params
        and each.name not in ELSEWHERE
        and context.params[each.name] not in (each.default, [], ())  # 0 is a value
    ]
    if extra:
        raise RequestError(
            f"{path} defines the complete experiment, so {', '.join(extra)} cannot be "
            "combined with it. Set these options in the file."
        )
    from tacit.experiments.comparison.experiment_file import read
    from tacit.results.records import ROWS, writable

    outputs = (context.params["json"], context.params["report"])
    writable(*outputs, read=(path,), beside=(*ROWS, SUFFIX))
    options, recorded = read(path)
    data = str(options.pop("data"))
    overrides = {name: str(context.params[name]) for name in WHERE if context.params[name]}
    typed = [*_arguments(options | overrides), "--", data]
    child = context.command.make_context("compare", typed, parent=context.parent, obj=recorded)
    with child:
        child.command.invoke(child)
    raise typer.Exit


def recorded(context: typer.Context) -> "Recorded":
    """Return the record of the experiment file, empty if the options were typed."""
    from tacit.experiments.comparison.experiment_file import Recorded

    return context.obj or Recorded()


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """Format options as command-line arguments: lists comma-separated, settings one by one."""
    typed: list[str] = []
    for name, value in options.items():
        if name == "set":
            typed += [part for each in value for part in ("--set", str(each))]
            continue
        listed = cast(list[object], value) if isinstance(value, list) else [value]
        shown = ",".join(map(str, listed))
        typed += [f"--{name}"] if value is True else [f"--{name}", shown]
    return typed
