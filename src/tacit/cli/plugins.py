"""Members from outside on the command line: `--plugin`, the tab key, and the end of each help."""

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
    """Registries, together where one option chooses from them: a channel, a model, a format."""
    from tacit.channels import MECHANISMS
    from tacit.evaluation.comparison.tools import BY_MODEL
    from tacit.readers import FORMATS

    return (MECHANISMS,), BY_MODEL, (FORMATS,)


def plug(context: typer.Context, given: list[Path] | None) -> list[Path]:
    """Import the files, whose members are known as long as the command runs; raises `RequestError`
    for one that does not load, and for a member that cannot be one."""
    with suppress(RequestError) if context.resilient_parsing else nullcontext():
        forget = plugins.load(given or [], accept)
        if not context.resilient_parsing:  # the tab key asks once the command is parsed and closed
            context.call_on_close(forget)
    return given or []


def accept(claim: plugins.Claim) -> object:
    """The member of a plug-in, loaded; raises `RequestError` for one that is refused."""
    from tacit.registry import refuse_twins

    registries = next(each for each in choices() if claim.kind in [one.kind for one in each])
    refuse_twins(claim.name, registries)
    return next(one for one in registries if one.kind == claim.kind)[claim.name]


def completing(option: int, *others: str) -> Callable[[str], list[str]]:
    """What the tab key offers for an option, a number in `choices`: a name, or a list by commas."""

    def offered(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        known = (*others, *(name for registry in choices()[option] for name in registry))
        return [f"{before}{comma}{name}" for name in known if name.startswith(begun)]

    return offered


def outside() -> Iterable[str]:
    """A line for each member of a plug-in, by what it is called; nothing is imported."""
    for kind, called in plugins.KINDS.items():
        for name, found in plugins.claims(kind).items():
            yield f"{name}, a {called} of {found[0].plugin}"


class Verb(typer.core.TyperCommand):
    """A verb whose help ends with what plug-ins add to the names that options take."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """As the base class has it."""
        found = list(outside())
        self.epilog = f"From plug-ins: {'; '.join(found)}." if found else None
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
"""`autocompletion` of the options of that name."""
