"""`tacit compare`: what recommending costs when nobody may see a rating."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import experiment, options, plugins
from tacit.cli.options import Columns, Data, Format, Rounding, Scale
from tacit.cli.resumable import Resumable

if TYPE_CHECKING:
    from tacit.evaluation.comparison.request import Comparison
    from tacit.evaluation.comparison.runner import Tools
    from tacit.evaluation.results import ResultRow
    from tacit.ratings import Ratings


def compare(
    context: typer.Context,
    data: Data,
    channel: Annotated[
        str, typer.Option(help="Channels, separated by commas.", autocompletion=plugins.CHANNEL)
    ] = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            help="Models, by commas. [channel-mf; on the scale there ease]",
            autocompletion=plugins.MODEL,
        ),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="Nats per value, slot or user, by commas.")
    ] = "0.5,1,3",
    person_epsilon: Annotated[
        str | None,
        typer.Option(help="Nats per person at --delta, by commas: all systems on that one axis."),
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Cross-validate in so many folds.")] = None,
    test_share: Annotated[float | None, typer.Option(help="Hold out this share. [0.1]")] = None,
    seeds: Annotated[int, typer.Option(help="Repeat with splits 0, 1, ..")] = 1,
    plan: Annotated[
        str | None,
        typer.Option(help="rated, catalogue or sample:K. [rated; catalogue on the scale there]"),
    ] = None,
    cap: Annotated[int | None, typer.Option(help="At most so many ratings a person.")] = None,
    mode: Annotated[str, typer.Option(help="strict, faithful or both.")] = "strict",
    delta: Annotated[
        float, typer.Option(help="Delta of tight_epsilon, and of trainings that need one.")
    ] = 1e-6,
    split: Annotated[
        str,
        typer.Option(
            help="Hold out: random, time (the latest), last (each person's), column:NAME."
        ),
    ] = "random",
    relevant: Annotated[float | None, typer.Option(help="Relevant from this rating on.")] = None,
    slices: Annotated[
        bool, typer.Option("--slices", help="RMSE by decile of people and items, too.")
    ] = False,
    factors: Annotated[int | None, typer.Option(help="Factors of models that have them.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result rows.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to open (HTML).")] = None,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
    catalogue: options.CatalogueFile = None,
    people: options.PeopleFile = None,
    positive_only: options.PositiveOnly = False,
    items: options.ItemsFile = None,
    engine: options.Engine = "local",
    master: options.Master = None,
) -> None:
    """Compare channels and models at several epsilons, beside no privacy at all.

    Every rating goes through each channel; models learn from the reports; errors are measured on
    true ratings held out, and lists of 20 beside random ones and popular items. A training (pg-mf)
    asks devices itself, through no channel. With --json
    an interrupted run goes on where it stopped when it is started again, and what was run is
    written beside the result, as a file that runs it again in the place of DATA.

    Examples:

        tacit compare ml-100k/u.data --channel auto,laplace --model mf,channel-mf --epsilon 0.5,1,3

        tacit compare ratings.csv --scale 1:5:1 --folds 10 --json out.json --report out.html

        tacit compare ml-100k/u.data --plan catalogue --epsilon 2,4 --cap 200

        tacit compare ml-100k/u.data --items ml-100k/u.item --epsilon 0.5

        tacit compare ml-1m/ratings.dat --person-epsilon 1,4,10 --delta 1e-6

        tacit compare clicks.csv --scale there --model ease,graph-filter --epsilon 1,2,4

        tacit compare out.toml --json again.json

        tacit compare ml-1m/ratings.dat --model mf,channel-mf --engine spark
    """
    if data.suffix == experiment.SUFFIX:
        experiment.again(context, data)
    if folds is not None and test_share is not None:
        raise typer.BadParameter("give --folds or --test-share, not both")
    if mode not in ("strict", "faithful", "both"):
        raise typer.BadParameter(f"'{mode}' is not strict, faithful or both", param_hint="--mode")
    if person_epsilon is not None and (plan is not None or cap is not None):
        raise typer.BadParameter("--person-epsilon chooses plan, cap and epsilon; leave them out")
    place = options.spark_master(engine, master)
    from tacit.evaluation.outputs import ROWS, writable

    read = (data, catalogue, people, items)
    writable(json, read=read, beside=(*ROWS, experiment.SUFFIX))
    writable(report, read=read)

    from tacit.cli import person
    from tacit.cli.engines import on_spark
    from tacit.evaluation import experiment_file
    from tacit.evaluation.comparison import tools
    from tacit.evaluation.comparison.asked import asked, protocol
    from tacit.evaluation.comparison.request import epsilons
    from tacit.evaluation.person.request import PersonComparison
    from tacit.readers import item_table

    if mode != "strict":
        options.notice("Models that learn from reports have one mode, strict; they run once.")
    request = asked(
        channels=channel,
        models=model,
        epsilons=epsilon,
        protocol=protocol(split, test_share, folds, seeds),
        plan=plan,
        cap=cap,
        mode=mode,
        delta=delta,
        relevant=relevant,
        slices=slices,
        factors=factors,
        items=None if items is None else item_table(items),
    )
    ratings = options.load(
        data,
        format,
        scale,
        columns,
        rounding,
        catalogue=catalogue,
        people=people,
        held_out=request.comparison.protocol.column,
        positive_only=positive_only,
    )
    recorded = experiment.recorded(context)
    recorded.check(ratings, data)
    real = tools.resolved(tools.tools(), recorded.auto)
    if person_epsilon is None:
        comparison = request.of(ratings)
    else:
        comparison = person.every(ratings, request.comparison, model)
    with on_spark(place) as there:
        real = tools.with_devices_on(there, real, comparison.models)
        if person_epsilon is None:
            run(ratings, comparison, real, json, report)
            slots = [(comparison.plan, epsilon) for epsilon in comparison.epsilons]
        else:
            wanted = PersonComparison(epsilons=epsilons(person_epsilon), every=comparison)
            slots = person.run(ratings, wanted, real, json, report)
    if json is not None:
        auto = tools.auto_names(slots, ratings.scale) if tools.AUTO in comparison.channels else {}
        said = experiment_file.options(comparison)
        if person_epsilon is not None:
            said |= {"plan": None, "person-epsilon": person_epsilon}
        said |= {"data": data, "format": format, "scale": scale, "columns": columns}
        said |= {"rounding": rounding, "catalogue": catalogue, "people": people, "items": items}
        auto = recorded.auto or auto
        experiment_file.write(json, ratings, said, auto, by=options.typed())


def run(
    ratings: "Ratings",
    comparison: "Comparison",
    real: "Tools",
    json: Path | None,
    report: Path | None,
) -> None:
    """Run a comparison, write its files and print its tables; exits 130 when interrupted."""
    from tacit.evaluation.comparison.result import ComparisonResult
    from tacit.evaluation.comparison.summary import as_text
    from tacit.evaluation.results import ResultRow

    grid = Resumable(
        "comparing",
        ResultRow,
        lambda journal, progress: comparison.run(ratings, real, journal, progress),
        lambda journal: comparison.finished(ratings, journal),
        lambda rows: typer.echo(as_text(rows)),
        json,
    )

    def write(rows: "Sequence[ResultRow]", path: Path) -> None:
        found = ComparisonResult(tuple(rows), comparison, ratings, real)
        found.report(path, options.notice, command=options.typed())

    grid(report, write)
