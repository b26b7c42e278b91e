"""`tacit attack`: privacy attacks on reports of known true ratings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options, plugins
from tacit.cli.options import Columns, Data, Format, Rounding, Scale

if TYPE_CHECKING:
    import polars as pl


def attack(
    data: Data,
    attack: Annotated[
        str | None, typer.Option("--attack", help="Attacks to run, comma-separated. [all]")
    ] = None,
    plan: Annotated[
        str, typer.Option(help="Plans to attack, comma-separated: rated, catalogue, sample:K.")
    ] = "rated,catalogue",
    channel: Annotated[
        str, typer.Option(help="Channels, comma-separated.", autocompletion=plugins.CHANNEL)
    ] = "auto",
    epsilon: Annotated[
        str, typer.Option(help="Epsilons in nats per value or slot, comma-separated.")
    ] = "1,2,4",
    seeds: Annotated[int, typer.Option(help="Number of repetitions, with seeds 0, 1, ..")] = 1,
    json: Annotated[
        Path | None, typer.Option(help="Write the result rows to this file (JSON).")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file (HTML).")] = None,
    format: Format = None,
    scale: Scale = None,
    implicit: options.Implicit = False,
    columns: Columns = None,
    rounding: Rounding = None,
    catalogue: options.CatalogueFile = None,
    people: options.PeopleFile = None,
) -> None:
    """Run privacy attacks on reports of known true ratings.

    Every attacker has the channel's table and the stated background knowledge. Each attack is
    compared with guessing. With --people, a table of users and their attributes, an attacker also
    predicts the attributes from the reports. The results are as sensitive as the ratings, so do not
    publish results about users you want to protect. With --json, an interrupted run resumes when
    the command is run again.

    Examples:

        tacit attack ml-100k/u.data --epsilon 1,2,4

        tacit attack ratings.csv --scale 1:5:1 --attack linkage --plan sample:200 --epsilon 2

        tacit attack ml-1m/ratings.dat --people users.parquet --json out.json --report out.html
    """
    from tacit.results.records import ROWS, writable

    read = (data, catalogue, people)
    writable(json, report, read=read, beside=ROWS)

    from tacit.audit.attacks import ATTACKS
    from tacit.cli.evaluating.execution import execute
    from tacit.experiments.attacks import AttackRequest, experiment
    from tacit.experiments.comparison.request import epsilon_texts
    from tacit.reporting.page import Provenance

    request = AttackRequest(
        attacks=options.names(attack) if attack else tuple(ATTACKS),
        plans=options.names(plan),
        channels=options.names(channel),
        epsilons=epsilon_texts(epsilon),
        seeds=seeds,
        people=_table(people),
    )
    scale = options.scale_of(scale, implicit)
    ratings = options.load(
        data, format, scale, columns, rounding, catalogue=catalogue, people=people
    )
    run = Provenance.of(ratings, options.typed())
    execute(experiment(request, ratings, run), json, report)


def _table(people: Path | None) -> "pl.DataFrame | None":
    from tacit.readers.declared import listed

    return None if people is None else listed(people, "user")
