"""Plug-ins on the command line: `--plugin`, shell completion, and the end of each help text."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.core
import typer.main

from tacit import plugins
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.registry import Registry


PACKAGES = {"paper": "tacit-studies"}
"""The packages of this repository that add a command."""


def choices() -> "tuple[tuple[Registry[Any], ...], ...]":
    """Return the registries by option: of channels, of models and trainers, of formats."""
    from tacit.channels import MECHANISMS
    from tacit.learners.learner import REGISTRIES
    from tacit.readers import FORMATS

    return (MECHANISMS,), REGISTRIES, (FORMATS,)


def plug(context: typer.Context, files: list[Path] | None) -> list[Path]:
    """Import plug-in files, whose entries are registered while the command runs.

    Raises `RequestError` for a file that cannot be loaded, and for an invalid entry.
    """
    with suppress(RequestError) if context.resilient_parsing else nullcontext():
        forget = plugins.load(files or [], accept)
        if not context.resilient_parsing:  # completion runs after the context was closed
            context.call_on_close(forget)
    return files or []


def accept(claim: plugins.Claim) -> object:
    """Load an entry of a plug-in. Raises `RequestError` if it is rejected."""
    from tacit.registry import refuse_twins

    registries = next(each for each in choices() if claim.kind in [one.kind for one in each])
    refuse_twins(claim.name, registries)
    return next(one for one in registries if one.kind == claim.kind)[claim.name]


def completing(option: int, *others: str) -> Callable[[str], list[str]]:
    """Return the shell completion of names for an option, an index into `choices`."""

    def offered(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        known = (*others, *(name for registry in choices()[option] for name in registry))
        return [f"{before}{comma}{name}" for name in known if name.startswith(begun)]

    return offered


def outside() -> Iterable[str]:
    """Yield one line per plug-in entry, without importing it."""
    for kind, called in plugins.KINDS.items():
        for name, entries in plugins.claims(kind).items():
            yield f"{name}, a {called} of {entries[0].plugin}"


class Verb(typer.core.TyperCommand):
    """Command whose help ends with the entries of plug-ins."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Format the help text as the base class does, and list plug-in entries last."""
        entries = list(outside())
        self.epilog = f"From plug-ins: {'; '.join(entries)}." if entries else None
        super().format_help(ctx, formatter)


class Commands(typer.core.TyperGroup):
    """The commands of Tacit, then those of installed packages (entry points `tacit.commands`).

    An entry point names a `typer.Typer` of one command. It is imported when its command is run or
    help is printed.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *sorted(_commands().names)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name, or None; a known package that is missing is named."""
        built_in = super().get_command(ctx, cmd_name)
        if built_in is not None:
            return built_in
        if cmd_name in _commands().names:
            return typer.main.get_command(_commands()[cmd_name].load())
        if cmd_name in PACKAGES and not ctx.resilient_parsing:
            raise RequestError(
                f"The command {cmd_name} is part of {PACKAGES[cmd_name]}; install that package."
            )
        return None


@cache
def _commands() -> EntryPoints:
    return entry_points(group="tacit.commands")


CHANNEL, MODEL, FORMAT = completing(0, "auto", "identity"), completing(1), completing(2)
"""Values of `autocompletion` for the options --channel, --model and --format."""
