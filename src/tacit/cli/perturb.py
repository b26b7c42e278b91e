"""`tacit perturb`: write what would leave the devices."""

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.cli.options import Columns, Data, Format, Rounding, Scale
from tacit.errors import RequestError


def perturb(
    data: Data,
    channel: Annotated[str, typer.Option(help="A channel, such as optimal, or auto.")],
    epsilon: Annotated[str, typer.Option(help="Nats per rating value, a decimal.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Parquet file to write.")],
    plan: Annotated[str, typer.Option(help="What is answered for: rated.")] = "rated",
    cap: Annotated[int | None, typer.Option(help="At most so many ratings a person.")] = None,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Send every rating through a channel and keep only the reports.

    The noise comes from the operating system: a second run gives other reports.

    Example: tacit perturb u.data --channel auto --epsilon 1 -o reports.parquet
    """
    options.writable(output)

    from tacit.channels import choose, compile
    from tacit.collection.perturb import perturb as perturbed
    from tacit.collection.rated import Rated
    from tacit.collection.report_file import write_reports

    if plan != "rated":
        raise RequestError(f"No plan is called '{plan}'; ask for rated.")
    ratings = options.load(data, format, scale, columns, rounding)
    table = (
        choose(epsilon=epsilon, scale=ratings.scale)[1]
        if channel == "auto"
        else compile(channel, epsilon=epsilon, scale=ratings.scale)
    )
    rated = Rated(table, cap=cap)
    reports = perturbed(ratings, rated)
    write_reports(reports, output)
    typer.echo(f"{len(reports):,} reports in {output}. {rated.guarantee.sentence}", err=True)
