"""`tacit fit`: fit a model to reports, to ratings that are perturbed first, or across domains."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options, plugins
from tacit.cli.engines import learning
from tacit.cli.learning.files import (
    is_reports,
    only,
    reports_of,
    write_model,
)
from tacit.cli.learning.fit_checks import (
    check_names,
    is_training,
    refuse_new_noise,
    refuse_unused,
    require_one_source,
    settings_of,
)
from tacit.cli.learning.fit_map import (
    MapRequest,
    fit_map,
    is_map_request,
    require_map_options,
)
from tacit.cli.learning.publishing import measured_gain, publish_request
from tacit.cli.learning.publishing import publish as publish_model
from tacit.cli.learning.releases import ReleaseRequest, fit_release
from tacit.cli.learning.warm import measured_fit, require_warm, save_start, side_files, warm_model
from tacit.cli.options import Columns, Format, Rounding, Scale
from tacit.experiments.defaults import model_for, plan_for

if TYPE_CHECKING:
    from tacit.collection.plan import Plan
    from tacit.learners.learner import Learner
    from tacit.ratings import Ratings
    from tacit.reports import Reports

HELD_OUT = "held-out"
"""Folder in --state of the fit without the held-out reports."""


def fit(
    context: typer.Context,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write.")],
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Reports written by `tacit perturb`, or ratings. For a cross-domain map, the "
            "ratings of each domain, target last."
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(help="The report store of `tacit collect`.", rich_help_panel="Store"),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="Address of the task. [the latest]", rich_help_panel="Store"),
    ] = None,
    publish: Annotated[
        Path | None,
        typer.Option(help="Folder of a collector's published models.", rich_help_panel="Store"),
    ] = None,
    least: Annotated[
        int, typer.Option(min=1, help="Minimum number of reports for --publish.")
    ] = 100,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Publish also with fewer reports, and a model that is worse than popularity or "
            "than the last one on held-out reports.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check the model as for --publish, and do not publish it."),
    ] = False,
    hide: Annotated[
        Path | None,
        typer.Option(
            help="A table with a column item: with --publish, no device recommends these items, "
            "from now on. [the items hidden before]",
            rich_help_panel="Store",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model or trainer to fit, or for several domains x-map-strict, "
            "x-map-factors, x-map, nx-map or nx-map-everybody. [channel-mf; ease for implicit "
            "feedback]",
            autocompletion=plugins.MODEL,
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Epsilon in nats of the channel or the trainer.")
    ] = None,
    channel: Annotated[
        str, typer.Option(help="The channel that perturbs ratings.", autocompletion=plugins.CHANNEL)
    ] = "auto",
    plan: options.PlanOfScale = None,
    factors: Annotated[
        int | None, typer.Option(help="Number of factors, for a model with factors.")
    ] = None,
    changed: options.Settings = None,
    warm: Annotated[
        Path | None,
        typer.Option(
            help="A model of fewer reports to start from, such as that of the last fit: mf, "
            "channel-mf, ease or graph-filter. Models in closed form, such as bias, are computed "
            "again."
        ),
    ] = None,
    without_exposure: Annotated[
        bool,
        typer.Option(
            "--without-exposure",
            help="Leave out the statistics of items rated together; rank by predicted rating.",
        ),
    ] = False,
    releases: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of releases that --epsilon per user covers together. Each run with the "
            "same --state makes the next one, of all ratings so far: dp-popularity, dp-ease or "
            "item-mean.",
        ),
    ] = None,
    mode: Annotated[str, typer.Option(help="Trainer mode: strict or faithful.")] = "strict",
    delta: Annotated[float, typer.Option(help="Delta of a trainer that requires one.")] = 1e-6,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the model's initialization.")] = 0,
    format: Format = None,
    scale: Scale = None,
    implicit: options.Implicit = False,
    columns: Columns = None,
    rounding: Rounding = None,
    catalogue: Annotated[
        list[Path] | None,
        typer.Option(
            help="The complete public catalogue (a table with an item column, and optionally a "
            "title column). The set of items then does not reveal which items were rated. For a "
            "cross-domain map, one per domain.",
            rich_help_panel="Data",
        ),
    ] = None,
    people: options.PeopleFile = None,
    positive_only: options.PositiveOnly = False,
    items: options.ItemsFile = None,
    engine: options.Engine = "local",
    master: options.Master = None,
    state: options.State = None,
) -> None:
    """Fit a model and write it to a file, with its guarantee.

    Without --epsilon, ratings are used unchanged, without any privacy. A trainer such as pg-mf
    requires ratings and --epsilon, and queries the devices itself.

    Examples:

        tacit fit reports.parquet --model channel-mf -o model

        tacit fit ml-100k/u.data --epsilon 1 -o model

        tacit fit ml-100k/u.data --model pg-mf --epsilon 8 -o model

        tacit fit --db reports.db --publish models -o model

        tacit fit --db reports.db --publish models --warm model -o model

        tacit fit clicks.csv --implicit --epsilon 2 -o model

        tacit fit reports.parquet --items movies.csv -o model

        tacit fit reports.parquet --engine spark --state learning -o model

        tacit fit books.csv films.csv --model x-map-strict --epsilon 8 -o map

        tacit fit clicks.csv --model dp-ease --epsilon 1 --releases 52 --state weekly -o model
    """
    several, changed = data or [], changed or []
    if is_map_request(several, model):
        require_map_options(options.typed_options(context))
        spark = options.spark_master(engine, master)
        load = (format, scale, columns, rounding)
        request = MapRequest(
            data=several, output=output, model=model, epsilon=epsilon, delta=delta,
            factors=factors, changed=changed, load=load, catalogue=catalogue, people=people,
            spark=spark, db=db, task=task, publish=publish, state=state,
        )  # fmt: skip
        fit_map(request)
        return
    file, items_file = only(several, "DATA"), only(catalogue or [], "--catalogue")
    if releases is not None:
        load = (format, options.scale_of(scale, implicit), columns, rounding)
        release = ReleaseRequest(
            data=file, output=output, model=model, epsilon=epsilon, delta=delta,
            releases=releases, state=state, load=load, catalogue=items_file, people=people,
            positive_only=positive_only,
        )  # fmt: skip
        fit_release(release, options.typed_options(context))
        return
    require_one_source(file, db, mode)
    publishing = publish_request(publish, db, task, least, force=force, dry_run=dry_run, hide=hide)
    refuse_new_noise(epsilon, state)
    from tacit.learners import with_exposure
    from tacit.learners.learner import learner
    from tacit.learners.settings import parsed_settings, require_options
    from tacit.privacy.ledger import delta_text, epsilon_text
    from tacit.progress import share
    from tacit.reports import Reports
    from tacit.results.records import writable

    writable(output, *side_files(output), read=(file, items_file, people, items, hide, db))
    settings = settings_of(factors, items)
    check_names(model, mode, channel, plan, settings, changed)
    epsilon = None if epsilon is None else epsilon_text(epsilon)
    from_reports = file is None or is_reports(file)
    trained = model is not None and is_training(model, epsilon, from_reports)
    refuse_unused(options.typed_options(context), from_reports=from_reports, trained=trained)
    if file is not None and not from_reports:
        source = options.load(
            file, format, options.scale_of(scale, implicit), columns, rounding,
            catalogue=items_file, people=people, positive_only=positive_only,
        )  # fmt: skip
    else:
        source = reports_of(file, db, task)
    start = warm_model(warm)
    model = model or (start.name if start else None) or model_for(source)
    promised, gain = None, None
    chosen = learner(model, mode)
    if start is not None:
        require_warm(chosen, start, options.typed_options(context), from_reports=from_reports)
    require_options([chosen], list(settings))
    settings |= parsed_settings([chosen], changed)
    with learning(model, engine, master, state) as there, share("fitting") as advance:
        if trained:
            fitted = chosen.fit(
                source,
                rng=seed,
                epsilon=epsilon,
                delta=delta_text(delta),
                advance=advance,
                **settings,
            )
        else:
            promised, source = _sent(source, plan, channel, epsilon)
            holds = start and isinstance(source, Reports) and start.holds_for(source)
            last = start if holds else None
            begin = last.settings(chosen) if last else {}
            fitted = chosen.fit(source, rng=seed, advance=advance, **settings, **there, **begin)
            if last:
                last.notice_of_search(fitted)
            known = last.exposure if last else None
            if not without_exposure:
                fitted = with_exposure(fitted, source, rng=seed, warm=known)
        if publishing is not None and isinstance(source, Reports):
            there = there | ({"state": there["state"] / HELD_OUT} if there else {})
            fit_part = partial(chosen.fit, rng=seed, **settings, **there)
            fit_part = measured_fit(fit_part, start, output, chosen)
            gain = measured_gain(publishing, chosen, source, fit_part)
    write_model(fitted, output)
    if from_reports:
        save_start(fitted, output, chosen)
    # A trainer's guarantee does not cover the number of ratings, so it is not printed.
    rows = f" from {len(source):,} rows" if not trained else ""
    via = _via(channel if promised else None, chosen)
    options.notice(f"{output}: {model}{rows}{via}. {fitted.guarantee.sentence}")
    if publishing is not None:
        publish_model(publishing, fitted, len(source), gain)


def _via(channel: str | None, model: "Learner") -> str:
    """Return a remark that names the channel and the model if they are plug-ins."""
    from tacit.learners.learner import plugged

    sources = plugged(channel, model)
    return f" (plug-ins: {sources})" if sources else ""


def _sent(
    source: "Ratings | Reports", plan: str | None, channel: str, epsilon: str | None
) -> "tuple[Plan | None, Ratings | Reports]":
    """Perturb ratings at an epsilon. Returns the plan and the reports, else None and the source."""
    from tacit.collection.named_plans import plan_of
    from tacit.collection.perturb import perturb
    from tacit.ratings import Ratings

    if epsilon is None or not isinstance(source, Ratings):
        return None, source
    promised = plan_of(plan or plan_for(source), channel, epsilon, source.scale)
    return promised, perturb(source, promised)
