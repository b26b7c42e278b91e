"""`tacit compare`: accuracy of channels and models against a non-private baseline."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options, plugins
from tacit.cli.evaluating import experiment
from tacit.cli.options import Columns, Data, Format, Rounding, Scale


def compare(
    context: typer.Context,
    data: Data,
    channel: Annotated[
        str, typer.Option(help="Channels, comma-separated.", autocompletion=plugins.CHANNEL)
    ] = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            help="Models or trainers, comma-separated. [channel-mf; ease for implicit feedback]",
            autocompletion=plugins.MODEL,
        ),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="Epsilons in nats per value, slot or user, comma-separated.")
    ] = "0.5,1,3",
    person_epsilon: Annotated[
        str | None,
        typer.Option(
            help="Epsilons in nats per user at --delta, comma-separated. All systems are "
            "compared at the same epsilon per user."
        ),
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Number of cross-validation folds.")] = None,
    test_share: Annotated[
        float | None, typer.Option(help="Share of the ratings to hold out. [0.1]")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of repetitions, with splits 0, 1, ..")] = 1,
    plan: Annotated[
        str | None,
        typer.Option(
            help="The plan: rated, catalogue or sample:K. [rated; catalogue for implicit feedback] "
            "With --person-epsilon, shuffled:M adds trainers from shuffled messages."
        ),
    ] = None,
    cap: Annotated[int | None, typer.Option(help="Maximum number of ratings per user.")] = None,
    mode: Annotated[str, typer.Option(help="Trainer mode: strict, faithful or both.")] = "strict",
    delta: Annotated[
        float, typer.Option(help="Delta of tight_epsilon and of trainers that require one.")
    ] = 1e-6,
    split: Annotated[
        str,
        typer.Option(
            help="How to hold out ratings: random, time (the latest), last (the last per user) or "
            "column:NAME."
        ),
    ] = "random",
    relevant: Annotated[
        float | None, typer.Option(help="Smallest rating that counts as relevant in top-N metrics.")
    ] = None,
    slices: Annotated[
        bool, typer.Option("--slices", help="Also report RMSE by decile of users and of items.")
    ] = False,
    no_lists: Annotated[
        bool, typer.Option("--no-lists", help="Do not compute top-N metrics.")
    ] = False,
    rank_by: options.RankBy = None,
    factors: Annotated[
        int | None, typer.Option(help="Number of factors, for models with factors.")
    ] = None,
    changed: options.Settings = None,
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
    positive_only: options.PositiveOnly = False,
    items: options.ItemsFile = None,
    engine: options.Engine = "local",
    master: options.Master = None,
) -> None:
    """Compare channels and models against a non-private baseline.

    Each channel perturbs every rating at several privacy levels, and the models are fitted to the
    reports. Prediction errors are measured on held-out true ratings, and top-20 lists are compared
    with random and popular items. A trainer such as pg-mf queries the devices itself, without a
    channel. With --json, an interrupted run resumes when the command is run again. The command then
    also writes a run file (.toml) next to the results, which repeats the experiment when passed as
    DATA.

    Examples:

        tacit compare ml-100k/u.data --channel auto,laplace --model mf,channel-mf --epsilon 0.5,1,3

        tacit compare ratings.csv --scale 1:5:1 --folds 10 --json out.json --report out.html

        tacit compare ml-100k/u.data --plan catalogue --epsilon 2,4 --cap 200

        tacit compare ml-100k/u.data --items ml-100k/u.item --epsilon 0.5

        tacit compare ml-1m/ratings.dat --person-epsilon 1,4,10 --delta 1e-6

        tacit compare clicks.csv --implicit --model ease,graph-filter --epsilon 1,2,4

        tacit compare clicks.csv --implicit --person-epsilon 1,4 --plan shuffled:100

        tacit compare out.toml --json again.json

        tacit compare ml-1m/ratings.dat --model mf,channel-mf --engine spark
    """
    if data.suffix == experiment.SUFFIX:
        experiment.again(context, data)
    if folds is not None and test_share is not None:
        raise typer.BadParameter("--folds and --test-share cannot be combined; leave out one")
    if mode not in ("strict", "faithful", "both"):
        raise typer.BadParameter(
            f"must be strict, faithful or both, got '{mode}'", param_hint="--mode"
        )
    from tacit.collection.shuffled.plan import messages_of

    messages = messages_of(plan or "")
    if person_epsilon is not None and (cap is not None or (plan and not messages)):
        raise typer.BadParameter(
            "--person-epsilon sets plan, cap and epsilon; leave out --cap, and --plan unless it is "
            "shuffled:M"
        )
    if person_epsilon is not None and context.obj is None:  # an experiment file contains both
        typed = epsilon if "epsilon" in options.typed_options(context) else None
        options.refuse({"--epsilon": typed}, "with --person-epsilon")
    if person_epsilon is None and messages:
        raise typer.BadParameter(
            f"{plan} requires --person-epsilon, because its epsilon is per user"
        )
    spark = options.spark_master(engine, master)
    from tacit.results.records import ROWS, writable

    read = (data, catalogue, people, items)
    writable(json, report, read=read, beside=(*ROWS, experiment.SUFFIX))

    from tacit.cli.engines import on_spark
    from tacit.cli.evaluating.execution import execute
    from tacit.experiments.comparison.compare import experiment as declared
    from tacit.experiments.comparison.request import asked, epsilon_texts, protocol
    from tacit.experiments.comparison.user_level import (
        UserLevelComparison,
        default_models,
        with_shuffled,
    )
    from tacit.readers import item_table
    from tacit.reporting.page import Provenance

    if mode != "strict":
        options.notice(
            "--mode applies to trainers only. Models fitted to reports run once, in strict mode."
        )
    request = asked(
        channels=channel,
        models=model,
        epsilons=epsilon,
        protocol=protocol(split, test_share, folds, seeds),
        plan=None if messages else plan,
        cap=cap,
        mode=mode,
        delta=delta,
        relevant=relevant,
        slices=slices,
        lists=not no_lists,
        rank_by=rank_by,
        factors=factors,
        settings=changed or (),
        items=None if items is None else item_table(items),
    )
    scale = options.scale_of(scale, implicit)
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
    with on_spark(spark) as there:
        if person_epsilon is None:
            comparison = recorded.resolve(request.of(ratings, there))
            slots = [(comparison.plan, epsilon) for epsilon in comparison.epsilons]
            grid = declared(comparison, ratings, command=options.typed(), notify=options.notice)
        else:
            models = options.names(model) if model else default_models(ratings)
            every = replace(request.comparison, models=models, engine=there)
            every = with_shuffled(every, ratings, messages) if messages else every
            comparison = recorded.resolve(every)
            wanted = UserLevelComparison(epsilons=epsilon_texts(person_epsilon), every=comparison)
            terms = wanted.terms(ratings)
            slots = [(each.plan, each.epsilon) for each in terms.values()]
            run = Provenance.of(ratings, options.typed())
            grid = wanted.experiment(ratings, terms, run)
        execute(grid, json, report)
    if json is not None:
        files = {"data": data, "catalogue": catalogue, "people": people, "items": items}
        reading = {"format": format, "scale": scale, "columns": columns, "rounding": rounding}
        other = {"person-epsilon": person_epsilon, "positive-only": positive_only}
        other |= {"plan": plan} if messages else {}
        settings: dict[str, object] = {**files, **reading, **other}
        recorded.write(json, ratings, comparison, slots, settings, by=options.typed())
