"""`tacit crossdomain`: evaluation of cross-domain recommendation."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.evaluating.one_user import named_system, only_system, show
from tacit.cli.options import Columns, Format, Rounding, Scale
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.crossdomain.domains import Domains


DEFAULT_EPSILON = "1"
"""Of --user, which shows one release."""


def crossdomain(
    context: typer.Context,
    data: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE... TARGET", help="Ratings of each domain, target last."),
    ],
    model: Annotated[
        str | None, typer.Option(help="Cross-domain systems, comma-separated. [all]")
    ] = None,
    epsilon: Annotated[
        str,
        typer.Option(help="Epsilons in nats, comma-separated. The unit depends on the system."),
    ] = ("1,3"),
    neighbour_epsilon: Annotated[
        str | None,
        typer.Option(
            help="Epsilons of neighbour selection in nats, comma-separated, in addition to those "
            "of item replacement."
        ),
    ] = None,
    delta: Annotated[float, typer.Option(help="Delta of guarantees that require one.")] = 1e-6,
    mode: Annotated[str, typer.Option(help="Mode: strict, faithful or both.")] = "strict",
    overlap: Annotated[
        str,
        typer.Option(
            help="Shares of the overlapping users that link the domains, comma-separated."
        ),
    ] = "1",
    keep: Annotated[
        str, typer.Option(help="Numbers of target ratings that test users keep, comma-separated.")
    ] = "0",
    k: Annotated[
        str | None,
        typer.Option("--k", help="Numbers of neighbours, comma-separated. [each system's default]"),
    ] = None,
    damping: Annotated[
        int | None,
        typer.Option(
            help="Number of co-raters at which a similarity gets full weight. With 0, "
            "all similarities get full weight. [each system's default]"
        ),
    ] = None,
    decay: Annotated[
        str | None,
        typer.Option(
            help="Decay rates that reduce the weight of older ratings, comma-separated. [no decay]"
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change another setting of the systems that have it, such as stages=true. "
            "Repeatable.",
        ),
    ] = None,
    test_share: Annotated[
        float, typer.Option(help="Share of the overlapping users to test on.")
    ] = 0.2,
    seeds: Annotated[int, typer.Option(help="Number of repetitions, with seeds 0, 1, ..")] = 1,
    lists: Annotated[
        bool, typer.Option("--lists", help="Also evaluate top-N lists over the target's catalogue.")
    ] = False,
    user: Annotated[
        str | None,
        typer.Option(
            help="Run no evaluation. Show the recommendations of one system for this user, and of "
            "X-Map the AlterEgo."
        ),
    ] = None,
    titles: Annotated[
        Path | None, typer.Option(help="File of item titles, or a folder with one, for --user.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the result rows to this file (JSON).")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file (HTML).")] = None,
    format: Format = None,
    scale: Scale = None,
    implicit: options.Implicit = False,
    columns: Columns = None,
    rounding: Rounding = None,
    catalogue: Annotated[
        list[Path] | None,
        typer.Option(
            help="The complete catalogue of each domain: one file per domain, in the same order.",
            rich_help_panel="Data",
        ),
    ] = None,
    people: options.PeopleFile = None,
    engine: options.Engine = "local",
    master: options.Master = None,
) -> None:
    """Evaluate cross-domain recommendation.

    The command holds out users' ratings in the target domain and predicts them from the source
    domains. Users are matched across domains by id. All non-private systems run as baselines, in
    addition to the systems of the selected mode. With --json, an interrupted run resumes when the
    command is run again. With --implicit, the systems rank the target's items by interactions, and
    popularity in the target is the baseline.

    Examples:

        tacit crossdomain book-ratings.csv film-ratings.csv --scale 1:5:1 --epsilon 1,3

        tacit crossdomain book-ratings.csv film-ratings.csv --model item-offset,remote-user --k 5,50

        tacit crossdomain films.csv books.csv --user 17 --titles items.parquet

        tacit crossdomain book-clicks.csv film-clicks.csv --implicit --epsilon 1,2,4
    """
    if len(data) < 2:
        raise typer.BadParameter(
            "expected at least a source and a target", param_hint="SOURCE... TARGET"
        )
    if user is None:
        options.refuse({"--titles": titles}, "without --user")
    from tacit.results.records import ROWS, writable
    from tacit.scale import THERE

    read = (*data, *(catalogue or ()), people, titles)
    writable(json, report, read=read, beside=ROWS)
    spark = options.spark_master(engine, master)
    scale = options.scale_of(scale, implicit)
    if user is not None and scale == THERE:
        raise typer.BadParameter("requires ratings, not implicit feedback", param_hint="--user")

    from tacit.cli.engines import on_spark
    from tacit.cli.evaluating.execution import execute
    from tacit.crossdomain import LIST_SYSTEMS, MEMBERS, SYSTEMS
    from tacit.engines.engine import Local
    from tacit.experiments.comparison.request import epsilon_texts
    from tacit.experiments.crossdomain.trials import TrialRequest
    from tacit.privacy.ledger import delta_text
    from tacit.registry import assignments
    from tacit.reporting.page import Provenance

    of_ratings = SYSTEMS if spark else dict.fromkeys(member.name for member in MEMBERS)
    every = LIST_SYSTEMS if scale == THERE else of_ratings
    typed = options.typed_options(context)
    models = options.names(model) if model else tuple(every)
    if user is not None:
        models = options.names(named_system(typed, model, mode))
        epsilon = epsilon if "epsilon" in typed else DEFAULT_EPSILON
    request = TrialRequest(
        models=models,
        epsilons=epsilon_texts(epsilon),
        neighbour_epsilons=epsilon_texts(neighbour_epsilon) if neighbour_epsilon else None,
        delta=delta_text(delta),
        mode=mode,
        test_share=test_share,
        overlaps=options.numbers(overlap, float, "--overlap 0.2,0.5,1"),
        keeps=options.numbers(keep, int, "--keep 0,3,6"),
        ks=options.numbers(k, int, "--k 10,50") if k else None,
        damping=damping,
        decays=options.numbers(decay, float, "--decay 0,0.03") if decay else None,
        seeds=seeds,
        lists=lists,
        settings=assignments(setting or (), "stages=true"),
    )
    shown = None if user is None else only_system(request, typed)
    if user is None and request.left_out:
        left = ", ".join(request.left_out)
        options.notice(f"Not run in mode {mode}: {left}. Use --mode both to run them as well.")
    known = domains(data, format, scale, columns, rounding, catalogues=catalogue, people=people)
    with on_spark(spark) as there:
        chosen = there or Local()
        if user is None or shown is None:
            run = Provenance.of(known.ratings, options.typed())
            execute(request.experiment(known, chosen, run), json, report)
        else:
            show(known, *shown, user, engine=chosen, titles=titles)


def domains(
    paths: Sequence[Path],
    *request: str | None,
    catalogues: Sequence[Path] | None = None,
    people: Path | None = None,
    counts: bool = True,
) -> "Domains":
    """Load the domains, the target last. `request`: positional arguments of `options.load`.
    `counts`: whether to print the numbers of users and ratings."""
    from tacit.crossdomain.domains import Domains

    if catalogues and len(catalogues) != len(paths):
        raise RequestError(
            "--catalogue must be given once per domain, in the order of the domains, got "
            f"{len(catalogues)} catalogues for {len(paths)} domains."
        )
    each = catalogues or [None] * len(paths)
    joined = Domains.join(
        [
            options.load(path, *request, catalogue=catalogue, people=people)
            for path, catalogue in zip(paths, each, strict=True)
        ]
    )
    if counts:
        options.notice(joined.sentence)
    return joined
