"""`tacit perturb`: randomize ratings and write the reports."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options, plugins
from tacit.cli.options import Columns, Data, Format, Rounding, Scale


def perturb(
    data: Data,
    epsilon: Annotated[str, typer.Option(help="Epsilon in nats per value or per slot, a decimal.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
    channel: Annotated[
        str,
        typer.Option(
            help="The channel: auto, or a name such as optimal.", autocompletion=plugins.CHANNEL
        ),
    ] = "auto",
    plan: options.PlanName = "rated",
    cap: Annotated[int | None, typer.Option(help="Maximum number of ratings per user.")] = None,
    format: Format = None,
    scale: Scale = None,
    implicit: options.Implicit = False,
    columns: Columns = None,
    rounding: Rounding = None,
    catalogue: options.CatalogueFile = None,
    people: options.PeopleFile = None,
    positive_only: options.PositiveOnly = False,
    engine: options.Engine = "local",
    master: options.Master = None,
) -> None:
    """Randomize every rating or slot and write the reports.

    The output contains only the reports. The noise comes from the operating system, so a second run
    produces different reports. With the plan catalogue, reports are written block by block, to
    limit memory. With Spark, workers randomize the ratings user by user and write the same file
    format.

    Examples:

        tacit perturb u.data --epsilon 1 -o reports.parquet

        tacit perturb u.data --plan catalogue --channel optimal --epsilon 4 -o reports.parquet

        tacit perturb u.data --epsilon 1 --engine spark -o reports.parquet
    """
    from tacit.results.records import writable

    writable(output, read=(data, catalogue, people))
    spark = options.spark_master(engine, master)

    from tacit.channels import settings_of
    from tacit.collection.named_plans import check_channels, plan_of
    from tacit.collection.report_file import write_perturbed
    from tacit.collection.spark import write_perturbed_on_spark
    from tacit.progress import bar

    if channel != "auto":
        settings_of(channel)
    check_channels([channel], plan)
    ratings = options.load(
        data, format, options.scale_of(scale, implicit), columns, rounding,
        catalogue=catalogue, people=people, positive_only=positive_only,
    )  # fmt: skip
    chosen = plan_of(plan, channel, epsilon, ratings.scale, cap)
    if spark:
        written = write_perturbed_on_spark(ratings, chosen, output, master=spark)
    else:
        with bar("perturbing") as progress:
            written = write_perturbed(
                ratings, chosen, output, lambda people: progress("", people, ratings.n_users)
            )
    one = ratings.qualified(chosen.guarantee)
    options.notice(f"{written:,} reports in {output}. {one.sentence}")
    if (per_user := chosen.user_guarantee(ratings.n_items)) is not None:
        options.notice(ratings.qualified(per_user).sentence)
