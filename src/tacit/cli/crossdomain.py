"""`tacit crossdomain`: what ratings of one catalogue tell of another."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.options import Columns, Format, Rounding, Scale
from tacit.cli.resumable import Resumable

if TYPE_CHECKING:
    from tacit.crossdomain.domains import Domains
    from tacit.evaluation.crossed import Crossed
    from tacit.evaluation.crossing import Crossing


def crossdomain(
    data: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE... TARGET", help="Ratings of each domain, target last."),
    ],
    model: Annotated[
        str | None, typer.Option(help="Systems, separated by commas. [all of them]")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="Nats, by commas; what for, each system says.")] = (
        "1,3"
    ),
    neighbour_epsilon: Annotated[
        str | None,
        typer.Option(help="Nats for neighbours, by commas, beside those for replacements."),
    ] = None,
    delta: Annotated[float, typer.Option(help="Delta of promises that need one.")] = 1e-6,
    mode: Annotated[str, typer.Option(help="strict, faithful or both.")] = "strict",
    overlap: Annotated[
        str, typer.Option(help="Shares of people who link the domains, by commas.")
    ] = "1",
    keep: Annotated[
        str, typer.Option(help="Target ratings that tested people keep, by commas.")
    ] = "0",
    k: Annotated[
        str | None, typer.Option("--k", help="Neighbours, by commas. [each system's own]")
    ] = None,
    test_share: Annotated[float, typer.Option(help="Share of shared people who are tested.")] = 0.2,
    seeds: Annotated[int, typer.Option(help="Repeat with draws 0, 1, ..")] = 1,
    json: Annotated[Path | None, typer.Option(help="Write the result rows.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to open (HTML).")] = None,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Hide what some people rated in one domain, and tell it from what they rated in others.

    People are the same where their ids are. Every system without privacy always runs beside those
    of the mode. With --json an interrupted run goes on where it stopped when it is started again.

    Examples:

        tacit crossdomain books.csv films.csv --scale 1:5:1 --epsilon 1,3

        tacit crossdomain books.csv films.csv --model item-offset,remote-user --k 5,50 --json o.json
    """
    if len(data) < 2:
        raise typer.BadParameter("give a source and a target", param_hint="SOURCE... TARGET")
    options.writable(json, report)

    from tacit.crossdomain import SYSTEMS
    from tacit.evaluation.comparison import epsilons
    from tacit.evaluation.crossing import Crossing

    crossing = Crossing(
        models=options.names(model) if model else tuple(SYSTEMS),
        epsilons=epsilons(epsilon),
        neighbour_epsilons=epsilons(neighbour_epsilon) if neighbour_epsilon else None,
        delta=f"{delta:g}",
        mode=mode,
        test_share=test_share,
        overlaps=options.numbers(overlap, float, "--overlap 0.2,0.5,1"),
        keeps=options.numbers(keep, int, "--keep 0,3,6"),
        ks=options.numbers(k, int, "--k 10,50") if k else None,
        seeds=seeds,
    )
    run(domains(data, format, scale, columns, rounding), crossing, json, report)


def domains(paths: Sequence[Path], *request: str | None) -> "Domains":
    """The domains in files, the target last; `request` is as for `options.load`."""
    from tacit.crossdomain.domains import Domains

    joined = Domains.join([options.load(path, *request) for path in paths])
    options.notice(joined.sentence)
    return joined


def run(domains: "Domains", crossing: "Crossing", json: Path | None, report: Path | None) -> None:
    """Run the trials, write their rows and print their table; exits 130 when interrupted."""
    from tacit.crossdomain.local import Local
    from tacit.evaluation.crossed import Crossed

    engine = Local()
    grid = Resumable(
        "crossing",
        Crossed,
        lambda journal, progress: crossing.run(domains, engine, journal, progress),
        lambda journal: crossing.finished(domains, journal),
        _print,
        json,
    )
    grid(report, _report)


def _report(rows: "Sequence[Crossed]", path: Path) -> None:
    from tacit.evaluation.crossing_report import report
    from tacit.evaluation.results import replace

    replace(path, report(rows).encode())


def _print(rows: "Sequence[Crossed]") -> None:
    from tacit.evaluation.crossed import promises, table
    from tacit.evaluation.tables import text

    if rows:
        typer.echo(text(table(rows)) + "\n\n" + "\n".join(promises(rows)))
