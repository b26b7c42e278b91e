"""Shared options of commands, their parsers, and notices."""

import shlex
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tacit.cli import plugins
from tacit.cli.outputs import check_outputs
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.ratings import Ratings

INTERRUPTED = 130
Number = TypeVar("Number", int, float)
Data = Annotated[
    Path, typer.Argument(help="Ratings: a file, a folder or an archive in a known format.")
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the ratings: movielens-100k, movielens-1m, movielens-csv, netflix, "
        "jester, libimseti, recbole, json-lines, sparse, table or pivot. [detected]",
        autocompletion=plugins.FORMAT,
        rich_help_panel="Data",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        help="The public rating scale, low:high:step, or counts:N for counts of interactions, of "
        "which N stands for all higher ones.",
        rich_help_panel="Data",
    ),
]
Implicit = Annotated[
    bool,
    typer.Option(
        "--implicit",
        help="The data are implicit feedback: interactions without rating levels.",
        rich_help_panel="Data",
    ),
]
PlanName = Annotated[
    str,
    typer.Option(
        "--plan",
        help="The plan: rated (the items that a user rated are public), catalogue "
        "(one report per item of the catalogue) or sample:K (K public slots "
        "per user).",
    ),
]
PlanOfScale = Annotated[
    str | None,
    typer.Option(
        "--plan",
        help="The plan: rated, catalogue or sample:K. [rated; catalogue for implicit feedback]",
    ),
]
Engine = Annotated[
    str, typer.Option(help="The compute engine: local or spark.", rich_help_panel="Machines")
]
Master = Annotated[
    str | None,
    typer.Option(
        help="The Spark master, such as spark://host:7077. [all cores of this machine]",
        rich_help_panel="Machines",
    ),
]
State = Annotated[
    Path | None,
    typer.Option(
        help="Checkpoint folder that every machine can reach. A stopped fit resumes from it. For "
        "a cross-domain map, the record of earlier fits: nx-map then compares only items that "
        "changed, and the epsilons of private maps add up. With --releases, the series.",
        rich_help_panel="Machines",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Column names of a table, as in user=member,item=film, or the positions of user, item "
        "and rating in a file without a header, as in 1,2,3.",
        rich_help_panel="Data",
    ),
]
Rounding = Annotated[
    str | None,
    typer.Option(
        help="Rounding of ratings that lie between two levels: nearest or stochastic. [nearest "
        "for Jester; otherwise such ratings are rejected]",
        rich_help_panel="Data",
    ),
]

CatalogueFile = Annotated[
    Path | None,
    typer.Option(
        "--catalogue",
        help="The complete public catalogue (a table with an item column, and "
        "optionally a title column). The set of items then does not reveal "
        "which items were rated.",
        rich_help_panel="Data",
    ),
]
RankBy = Annotated[
    str | None,
    typer.Option(
        help="Order of a rating model's items: gain (expected gain) or rating (predicted rating). "
        "[gain if the model has an exposure]"
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting of the model or trainer, such as ridge=5. Repeatable.",
    ),
]
ItemsFile = Annotated[
    Path | None,
    typer.Option(
        "--items",
        help="Public item features for channel-mf and ease (a table with an item column, and "
        "columns such as genres, title or year).",
        rich_help_panel="Data",
    ),
]
PeopleFile = Annotated[
    Path | None,
    typer.Option(
        "--people",
        help="All participating users, including those without ratings (a table "
        "with a user column).",
        rich_help_panel="Data",
    ),
]

PositiveOnly = Annotated[
    bool,
    typer.Option(
        "--positive-only",
        help="Drop interactions whose weight is 0 or below, which are otherwise rejected.",
        rich_help_panel="Data",
    ),
]


def scale_of(scale: str | None, implicit: bool) -> str | None:
    """Return the scale of `--scale` or `--implicit`.

    Raises `RequestError` if both are given.
    """
    from tacit.scale import THERE

    if implicit and scale not in (None, THERE):
        raise RequestError(f"--implicit and --scale {scale} cannot be combined; omit one of them.")
    if scale == THERE:
        notice("--scale there is deprecated; use --implicit.")
    return THERE if implicit else scale


def load(
    data: Path,
    format: str | None = None,
    scale: str | None = None,
    columns: str | None = None,
    rounding: str | None = None,
    *,
    catalogue: Path | None = None,
    people: Path | None = None,
    held_out: str | None = None,
    positive_only: bool = False,
) -> "Ratings":
    """Read the ratings at `data`. Notices of the reader are printed to standard error."""
    from tacit.readers import read

    chosen: Any = rounding
    return read(
        data,
        format=format,
        scale=scale,
        columns=pairs(columns),
        rounding=chosen,
        catalogue=catalogue,
        people=people,
        held_out=held_out,
        positive_only=positive_only,
        notify=notice,
    )


def pairs(text: str | None) -> dict[str, str] | tuple[int, ...] | None:
    """Parse `user=member,item=film` into a dictionary, and `1,2,3` into positions.

    Raises `RequestError` for another text.
    """
    if text is None:
        return None
    if all(part.strip().isdecimal() for part in text.split(",")):
        return tuple(int(part) for part in text.split(","))
    parts = [part.partition("=") for part in text.split(",")]
    if not all(name and equals and value for name, equals, value in parts):
        raise RequestError(
            f"--columns must be NAME=COLUMN pairs such as user=member,item=film, got '{text}'."
        )
    return {name.strip(): value.strip() for name, _, value in parts}


def spark_master(engine: str, master: str | None) -> str | None:
    """Return the Spark master, or None for the local engine. Raises `RequestError`."""
    if engine not in ("local", "spark"):
        raise RequestError(f"--engine must be local or spark, got '{engine}'.")
    if engine == "local" and master is not None:
        raise RequestError(f"--master {master} requires --engine spark.")
    return (master or "local[*]") if engine == "spark" else None


def names(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of distinct names: `a,b,a` is ("a", "b")."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def numbers(text: str, kind: type[Number], example: str) -> tuple[Number, ...]:
    """Parse a comma-separated list of distinct numbers. Raises `RequestError`."""
    try:
        return tuple(dict.fromkeys(kind(part) for part in text.split(",")))
    except ValueError:
        raise RequestError(
            f"'{text}' is not a comma-separated list of numbers; write it as in {example}."
        ) from None


def typed_options(context: typer.Context) -> dict[str, str]:
    """Return the parameters that the command line sets, and how each option is spelled."""
    parameters = {each.name or "": each.opts[0] for each in context.command.params}
    return {
        name: option
        for name, option in parameters.items()
        if str(getattr(context.get_parameter_source(name), "name", "")) == "COMMANDLINE"
    }


def refuse(options: Mapping[str, object], where: str) -> None:
    """Raise `RequestError` for the first option with a value: it has no effect `where` it is.

    A flag that is not set is False.
    """
    for option, value in options.items():
        if value is not False and value not in (None, [], ()):
            raise RequestError(f"{option} has no effect {where}; leave it out.")


def typed() -> str:
    """Return the command line, quoted for a shell."""
    return shlex.join(["tacit", *sys.argv[1:]])


def notice(sentence: str) -> None:
    """Print a notice to standard error. Results go to standard output."""
    typer.echo(sentence, err=True)


def interruptible(verb: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command: its outputs must not replace its inputs, and an unhandled interrupt prints a
    notice, with the folder of `--state` to resume from, and exits with status 130."""

    @wraps(verb)
    def guarded(*arguments: Any, **named: Any) -> None:
        check_outputs(named)
        try:
            verb(*arguments, **named)
        except KeyboardInterrupt:
            state = named.get("state")
            resume = f" Run the same command again to resume from {state}." if state else ""
            notice(f"Interrupted.{resume}")
            raise typer.Exit(INTERRUPTED) from None

    return guarded
