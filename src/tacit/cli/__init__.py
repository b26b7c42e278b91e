"""Command line: one module per command. Exit statuses:

    0    success
    1    invalid data or request, with one sentence on standard error
    2    invalid command line
    130  interrupted; finished rows are saved

Heavy modules are imported inside the commands, so that `tacit --help` starts fast.
"""

import errno
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import tacit
from tacit.cli import plugins
from tacit.cli.administering import admin, models
from tacit.cli.collecting import shuffled
from tacit.cli.collecting.collect import collect
from tacit.cli.collecting.label import label
from tacit.cli.collecting.perturb import perturb
from tacit.cli.collecting.serve import serve
from tacit.cli.collecting.shuffle import shuffle
from tacit.cli.collecting.simulate import simulate
from tacit.cli.collecting.task import task
from tacit.cli.evaluating.attack import attack
from tacit.cli.evaluating.choose_epsilon import choose_epsilon
from tacit.cli.evaluating.compare import compare
from tacit.cli.evaluating.crossdomain import crossdomain
from tacit.cli.evaluating.demo import demo
from tacit.cli.evaluating.download import download
from tacit.cli.evaluating.plan import plan
from tacit.cli.evaluating.split_domains import split_domains
from tacit.cli.inspecting import channel
from tacit.cli.inspecting.check import check
from tacit.cli.inspecting.members import members
from tacit.cli.learning.export import export
from tacit.cli.learning.fit import fit
from tacit.cli.learning.recommend import recommend
from tacit.cli.options import interruptible
from tacit.errors import TacitError

app = typer.Typer(
    name="tacit",
    cls=plugins.Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"tacit {tacit.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            callback=plugins.plug,
            metavar="FILE.py",
            help="Import a file that registers channels, models, trainers or readers. Repeatable.",
        ),
    ] = None,
) -> None:
    "Recommend privately, from locally randomized ratings. Start with: tacit demo"


PANELS = {
    "Evaluate": (
        demo,
        compare,
        choose_epsilon,
        plan,
        split_domains,
        crossdomain,
        attack,
        download,
    ),
    "Collect and publish": (task, perturb, collect, shuffle, serve, simulate, label),
    "Learn and recommend": (fit, recommend, export),
    "Inspect": (check,),
}
"""Commands by panel of `tacit --help`, in the order in which they are shown."""

for panel, verbs in PANELS.items():
    for verb in verbs:
        app.command(cls=plugins.Verb, rich_help_panel=panel)(interruptible(verb))
app.command("list", cls=plugins.Verb, rich_help_panel="Inspect")(interruptible(members))
app.add_typer(channel.app, name="channel", rich_help_panel="Inspect")
app.add_typer(shuffled.app, name="shuffled", rich_help_panel="Collect and publish")
app.add_typer(admin.app, name="admin", rich_help_panel="Collect and publish")
app.add_typer(models.app, name="models", rich_help_panel="Collect and publish")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    try:
        app(arguments, prog_name="tacit")
    except TacitError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None and error.errno not in UNWRITTEN:
            raise
        _fail(f"{error.filename or 'The output cannot be written'}: {error.strerror}.")


UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a write, which names no file: a full disk, a limit of size, a failed device."""


def _fail(sentence: str) -> None:
    typer.echo(sentence, err=True)
    sys.exit(1)
